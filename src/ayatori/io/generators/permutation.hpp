#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "ayatori/base/random.hpp"

namespace ayatori::io {

/// A pseudo-random permutation of [0, n): invertible steps on numbers of bit_width(n - 1) bits, repeated
/// until the result lies below n (less than two times on average).
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t seed)
      : n_(n), bits_(std::max(1, static_cast<int>(std::bit_width(n - 1)))), shift_((bits_ + 1) / 2) {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      factor_[round] = random_bits(seed, round) | 1U;
      inverse_[round] = inverse_of_odd(factor_[round]);
    }
  }

  std::uint64_t operator()(std::uint64_t i) const {
    do {
      for (const std::uint64_t factor : factor_) {
        i = (i * factor) & mask();
        i ^= i >> shift_;
      }
    } while (i >= n_);
    return i;
  }

  std::uint64_t inverse(std::uint64_t i) const {
    do {
      for (std::size_t round = rounds; round-- > 0;) {
        i ^= i >> shift_;  // its own inverse, since the shift is at least half the bits
        i = (i * inverse_[round]) & mask();
      }
    } while (i >= n_);
    return i;
  }

 private:
  static constexpr std::size_t rounds = 4;

  /// Modulo 2^64, by Newton's iteration: the right bits double from 3.
  static std::uint64_t inverse_of_odd(std::uint64_t factor) {
    std::uint64_t inverse = factor;
    for (int step = 0; step < 5; ++step) inverse *= 2 - factor * inverse;
    return inverse;
  }

  std::uint64_t mask() const { return (std::uint64_t{1} << bits_) - 1; }

  std::uint64_t n_;
  int bits_;
  int shift_;
  std::array<std::uint64_t, rounds> factor_{};
  std::array<std::uint64_t, rounds> inverse_{};
};

}  // namespace ayatori::io
