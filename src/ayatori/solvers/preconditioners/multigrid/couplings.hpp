#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/multigrid/aggregate.hpp"
#include "ayatori/solvers/preconditioners/multigrid/grid.hpp"

// Which couplings of a grid are strong. Nodes that stand for one aggregate of the finer grid are taken as
// one.

namespace ayatori::solvers::amg {

template <int B>
double squared_norm(const double* block) {
  double sum = 0;
  for (int k = 0; k < B * B; ++k) sum += block[k] * block[k];
  return sum;
}

/// Which elements of a matrix with one unknown per node couple. Over positive ones of a discretization errors
/// that vary slowly do not go on; on coarser grids the smoothing of prolongators makes some as well.
enum class Coupling { negative, any };

/// The strength of each coupling, and the graph of the groups of nodes if these are more than a node each.
struct Couplings {
  Array<std::uint8_t> of_blocks;  ///< strength of each block of the matrix; 255 inside a group
  BlockCsr<1> groups;             ///< squared norms of couplings between groups
  Array<std::uint8_t> of_groups;
};

namespace detail {

/// The largest |coupling| of each row's node with another one, squared; for ghosts too. Collective. The node
/// of row i is own node i * group and those behind it.
template <int B>
Array<double> largest_couplings(const Layout& layout, const BlockCsr<B>& a, int group) {
  const std::int32_t all = layout.all();
  auto largest = comm::agree(layout.comm, [&] {
    Array<double> values(all);
    parallel_for(a.rows, [&](std::int64_t i) {
      double most = 0;
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
        if (a.column[k] != i)
          most = std::max(most, B == 1 && group > 1 ? *a.block(k) : squared_norm<B>(a.block(k)));
      std::fill_n(values.begin() + i * group, group, most);
    });
    return values;
  });
  GhostExchange<double>(layout, 1, all, layout.own()).fetch(largest.data());
  return largest;
}

/// The norm of every coupling as a share of its row's largest, in 255ths; 0 where its square is below
/// threshold^2 times the geometric mean of `largest` of its nodes: against other couplings, not against the
/// diagonal, so that stencils with many points have strong couplings too. `squared(k)`: of entry k;
/// `largest(j)`: of the node of column j.
template <int B, class Squared, class Largest>
Array<std::uint8_t> strengths(const BlockCsr<B>& a, double threshold, Squared&& squared, Largest&& largest) {
  const double fourth = threshold * threshold * threshold * threshold;
  Array<std::uint8_t> strength(a.blocks());
  parallel_for(a.rows, [&](std::int64_t i) {
    const double own = largest(i);
    const double scale = own > 0 ? 1 / own : 0;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const double square = squared(k);
      const bool strong = a.column[k] != i && square * square > fourth * own * largest(a.column[k]);
      strength[k] = strong ? static_cast<std::uint8_t>(1 + 254 * std::sqrt(square * scale)) : 0;
    }
  });
  return strength;
}

}  // namespace detail

/// Collective.
template <int B>
Couplings find_couplings(const Grid<B>& grid, double threshold, Coupling coupling) {
  const Layout& layout = grid.layout;
  const BlockCsr<B>& a = grid.matrix;
  Couplings found;
  if (grid.group == 1) {
    const auto largest = detail::largest_couplings<B>(layout, a, 1);
    const auto squared = [&](std::int64_t k) {
      const bool couples = B > 1 || coupling == Coupling::any || *a.block(k) < 0;
      return couples ? squared_norm<B>(a.block(k)) : 0;
    };
    comm::agree(layout.comm, [&] {
      found.of_blocks =
          detail::strengths<B>(a, threshold, squared, [&](std::int64_t j) { return largest[j]; });
    });
    return found;
  }
  // Groups of own nodes, then those of ghosts; a node of each.
  Array<std::int32_t> group_of;
  Array<std::int32_t> member;
  comm::agree(layout.comm, [&] {
    group_of.resize(layout.all());
    for (std::int32_t j = 0; j < layout.all(); ++j) {
      const bool begins =
          j == 0 || j == layout.own() || layout.global(j) / grid.group != layout.global(j - 1) / grid.group;
      if (begins) member.push_back(j);
      group_of[j] = static_cast<std::int32_t>(member.size()) - 1;
    }
    const auto longest = [&](std::int64_t s) {
      return a.row_start[(s + 1) * grid.group] - a.row_start[s * grid.group];
    };
    found.groups = build_rows<1>(a.rows / grid.group, static_cast<std::int32_t>(member.size()), longest,
                                 [&](std::int64_t s, auto&& append) {
                                   for (std::int64_t k = a.row_start[s * grid.group];
                                        k < a.row_start[(s + 1) * grid.group]; ++k)
                                     *append(group_of[a.column[k]]) += squared_norm<B>(a.block(k));
                                 });
  });
  const auto largest = detail::largest_couplings<1>(layout, found.groups, grid.group);
  comm::agree(layout.comm, [&] {
    const BlockCsr<1>& groups = found.groups;
    found.of_groups = detail::strengths<1>(
        groups, threshold, [&](std::int64_t k) { return groups.value[k]; },
        [&](std::int64_t s) { return largest[member[s]]; });
    found.of_blocks.resize(a.blocks());
    parallel_ranges_throwing(groups.rows, [&](Range range) {
      std::vector<std::uint8_t> strength(member.size());
      for (std::int64_t s = range.begin; s < range.end; ++s) {
        for (std::int64_t k = groups.row_start[s]; k < groups.row_start[s + 1]; ++k)
          strength[groups.column[k]] = found.of_groups[k];
        strength[s] = 255;
        for (std::int64_t k = a.row_start[s * grid.group]; k < a.row_start[(s + 1) * grid.group]; ++k)
          found.of_blocks[k] = strength[group_of[a.column[k]]];
      }
    });
  });
  return found;
}

/// Aggregates of a grid's groups of nodes.
template <int B>
Aggregates aggregate(const Grid<B>& grid, const Couplings& couplings) {
  if (grid.group == 1)
    return aggregate({grid.matrix.rows, grid.matrix.row_start, grid.matrix.column, couplings.of_blocks});
  const BlockCsr<1>& groups = couplings.groups;
  return aggregate({groups.rows, groups.row_start, groups.column, couplings.of_groups});
}

}  // namespace ayatori::solvers::amg
