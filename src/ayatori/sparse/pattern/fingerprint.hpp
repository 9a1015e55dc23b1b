#pragma once

#include <cstdint>
#include <span>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::sparse {

/// What tells a matrix from others: sums of 64-bit hashes over its entries, the same however its rows are
/// spread. Matrices that differ have equal ones with probability 2^-64.
struct Fingerprint {
  std::uint64_t pattern = 0;  ///< hash of the places of the entries
  std::uint64_t values = 0;   ///< hash of places and values

  bool operator==(const Fingerprint&) const = default;
};

/// Collective. Takes about as long as a product.
Fingerprint fingerprint(const comm::Comm& comm, const RowBlock& block);

/// Collective. The same of rows that are split.
Fingerprint fingerprint(const comm::Comm& comm, const SplitMatrix& parts);

/// Collective. The same for a vector of which this rank has the elements from `first` on.
std::uint64_t fingerprint(const comm::Comm& comm, std::span<const double> local, std::int64_t first);

}  // namespace ayatori::sparse
