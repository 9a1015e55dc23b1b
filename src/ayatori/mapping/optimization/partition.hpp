#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/mapping/optimization/weighted_graph.hpp"

namespace ayatori::mapping {

/// Groups of exactly these sizes (their sum: the vertices) with little weight between them: METIS (Karypis
/// and Kumar, k-way), brought to size by moving what loses least. Other groups by another `seed` of METIS.
/// Throws EnvironmentError where METIS fails.
std::vector<int> group_exactly(const WeightedGraph& graph, std::span<const int> sizes, int seed = 1);

/// Which of two sides each vertex is on, `first_size` of them on side 0, with little weight between the
/// sides: METIS, then Fiduccia and Mattheyses' passes, which end at this size. `pull` (empty, or one for each
/// vertex): what it costs a vertex to be on side 0 rather than 1, in the units of the weights. `seed` as
/// above.
std::vector<std::uint8_t> bisect_exactly(const WeightedGraph& graph, int first_size,
                                         std::span<const double> pull, int seed = 1);

/// A pattern of a matrix as METIS wants it: the neighbours of every row, without itself, from both ends.
struct Pattern {
  std::vector<std::int32_t> start;  ///< rows + 1
  std::vector<std::int32_t> neighbour;
};

/// Parts with about as many nonzeros each, and little between them, by METIS (k-way). Throws EnvironmentError
/// where METIS fails, InputError where there are fewer than two rows for each part.
std::vector<std::int32_t> partition_rows(Pattern& pattern, int parts);

}  // namespace ayatori::mapping
