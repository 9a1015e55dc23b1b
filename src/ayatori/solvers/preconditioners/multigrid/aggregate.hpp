#pragma once

#include <cstdint>
#include <span>

#include "ayatori/base/array.hpp"

namespace ayatori::solvers::amg {

/// The couplings of a rank's nodes. Entry k of row i couples node i with node column[k] by strength[k]; a
/// weak coupling, or that of a node with itself, has strength 0, the strongest of a node 255. Nodes from
/// `rows` on belong to other ranks.
struct CouplingGraph {
  std::int32_t rows;
  std::span<const std::int64_t> row_start;
  std::span<const std::int32_t> column;
  std::span<const std::uint8_t> strength;
};

/// Nodes put together, to be the nodes of a coarser grid.
struct Aggregates {
  static constexpr std::int32_t none = -1;
  std::int32_t count = 0;
  Array<std::int32_t> of;  ///< for each row, or none: a node without strong couplings stays on its grid
};

/// Aggregates of strongly coupled nodes of this rank (Vanek, Mandel & Brezina 1996, algorithm 2): first whole
/// neighbourhoods that touch no aggregate, then the nodes beside them, each to the neighbour that it is
/// coupled with most strongly, then what is left. Couplings with other ranks' nodes, and between pieces of
/// 2^17 consecutive nodes, join nothing. The same on any number of threads.
Aggregates aggregate(const CouplingGraph& graph);

}  // namespace ayatori::solvers::amg
