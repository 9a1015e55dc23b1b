#pragma once

#include <cstdint>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::sparse {

/// A renumbering of the unknowns, spread like the rows it was made for.
struct Permutation {
  RowPartition current;            ///< who holds new_number of an old row
  RowPartition target;             ///< who owns which new rows
  Array<std::int64_t> new_number;  ///< new number of each of this rank's old rows
};

/// Collective. One part per rank with nearly equal nonzeros and few edges of A + A^T between parts; rows of a
/// part are numbered together, in their old order. The first of partitioners() that is for graphs of this
/// size finds the parts (partitioner.hpp). Throws EnvironmentError (agreed) where it fails, or where the
/// graph exceeds its index type.
Permutation graph_partition(const comm::Comm& comm, const RowBlock& block);

/// Collective. P A P^T, spread by the permutation's target.
RowBlock permute(const comm::Comm& comm, const RowBlock& block, const Permutation& permutation);

/// Collective. A vector of the old numbering in the new one, spread by target.
Array<double> permute(const comm::Comm& comm, std::span<const double> local, const Permutation& permutation);

/// Collective. The inverse: from the new numbering to the old one, spread by current.
Array<double> permute_back(const comm::Comm& comm, std::span<const double> local,
                           const Permutation& permutation);

}  // namespace ayatori::sparse
