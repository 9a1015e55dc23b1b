#pragma once

#include <bit>
#include <cstdint>

#include "ayatori/sparse/csr.hpp"
#include "ayatori/sparse/pattern/mirror.hpp"

namespace ayatori::tuning {

/// What tells entries from their transposes without holding one against the other: sums over the entries of
/// functions f(i, j, a_ij) that are pseudo-random but for f(i, j, a) = -f(j, i, a), so that an entry and its
/// equal mirror image cancel. Entries that do not match cancel only by chance, a pair of 2^32. (Sums of
/// hashes as fingerprints of sets: Clarke, Devadas, van Dijk, Gassend & Suh 2003; products of halves: Black,
/// Halevi, Krawczyk, Krovetz & Rogaway 1999.)
struct SymmetryFingerprint {
  std::uint64_t values = 0;
  std::uint64_t pattern = 0;

  /// A pseudo-random number for a row or column, and another one for every other.
  static std::uint64_t key(std::uint64_t i) {
    const std::uint64_t z = i * 0x9e3779b9U + 0xd1b54a32d192ed03U;
    return z ^ (z >> 32U);
  }
  /// f by the keys of row and column: a product of halves, whose sign is that of the difference of the keys.
  static std::uint64_t term(std::uint64_t row, std::uint64_t column, std::uint64_t entry) {
    const std::uint64_t z = ((row & low) * (column & low)) ^ entry;
    const std::uint64_t product = (z & low) * (z >> 32U);
    const std::uint64_t difference = row - column;
    const std::uint64_t negative = 0 - (difference >> 63U);  // all bits, or none
    return difference == 0 ? 0 : (product ^ negative) - negative;
  }

  void add(std::int64_t i, std::int64_t j, double value) {
    values += term(key(i), key(j), std::bit_cast<std::uint64_t>(value));
    pattern += term(key(i), key(j), 0);
  }
  void merge(const SymmetryFingerprint& other) {
    values += other.values;
    pattern += other.pattern;
  }

 private:
  static constexpr std::uint64_t low = 0xffffffff;
};

/// Symmetry of a square matrix, by its fingerprint where a few entries do not tell. Traffic: 12 bytes per
/// nonzero and 8 per row where it is symmetric, 4 per nonzero more where only its pattern may be.
sparse::Symmetry probable_symmetry(const sparse::Csr& matrix);

}  // namespace ayatori::tuning
