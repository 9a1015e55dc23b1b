#pragma once

#include <span>

#include "ayatori/sparse/partition/graph_partition.hpp"

namespace ayatori::sparse {

/// The renumbering that changes nothing, for a rank.
Permutation unchanged(const RowPartition& rows, int rank);

/// The renumbering that follows `first` by bringing the rows of part p, which are those of rank p in
/// first.target, to rank rank_of_part[p], a permutation of the ranks. Rows of a part keep their order.
Permutation move_parts(Permutation first, std::span<const int> rank_of_part);

}  // namespace ayatori::sparse
