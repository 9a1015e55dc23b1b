#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/preconditioners/multigrid/aggregate.hpp"
#include "ayatori/solvers/preconditioners/multigrid/grid.hpp"

namespace ayatori::solvers::amg {

/// The tentative prolongator: every node belongs to one aggregate, which becomes `pieces` nodes of the coarse
/// grid, and its columns are orthonormal pieces of the near null space. A node has a block of B x B values
/// for each of those, or, if there are no modes, the diagonal of one block.
template <int B>
struct Tentative {
  int pieces = 1;
  std::int64_t first = 0;         ///< global number of this rank's first coarse node
  std::int32_t count = 0;         ///< this rank's coarse nodes
  Array<std::int64_t> aggregate;  ///< first coarse node, global, of each node in the layout; or none
  Array<double> value;            ///< values of all nodes i: [v * all + i]
  Array<double> coarse_near_null;
  Array<double> coarse_modes;

  int values() const { return coarse_modes.empty() && pieces == 1 ? B : B * B * pieces; }
};

/// Without modes: value c of a node is that of the near null space, normed over the aggregate.
template <int B>
void fill_from_near_null(const Grid<B>& grid, const Aggregates& aggregates, Tentative<B>& t) {
  const std::int32_t own = grid.layout.own();
  const std::int64_t all = grid.layout.all();
  t.value.resize(all * B);
  t.coarse_near_null.assign(std::size_t(aggregates.count) * B, 0.0);
  for (std::int32_t i = 0; i < own; ++i) {
    const std::int32_t a = aggregates.of[i];
    if (a < 0) continue;
    for (int c = 0; c < B; ++c) {
      const double v = grid.near_null[std::int64_t{i} * B + c];
      t.coarse_near_null[std::int64_t{a} * B + c] += v * v;
    }
  }
  for (double& v : t.coarse_near_null) v = std::sqrt(v);
  parallel_for(own, [&](std::int64_t i) {
    const std::int32_t a = aggregates.of[i];
    for (int c = 0; c < B; ++c) {
      const double norm = a < 0 ? 0 : t.coarse_near_null[std::int64_t{a} * B + c];
      t.value[c * all + i] = norm > 0 ? grid.near_null[i * B + c] / norm : 0;
    }
  });
}

/// V = Q R by Gram and Schmidt, twice, for `rows` x k elements by rows; V becomes Q. A vector of which less
/// than 1e-6 is left is in the span of those before: its column of Q is 0. R (k x k, by rows) starts as 0.
inline void orthogonalize_modes(std::vector<double>& v, std::int64_t rows, int k, double* r) {
  constexpr double negligible = 1e-6;
  const auto dot = [&](int p, int q) {
    double sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) sum += v[i * k + p] * v[i * k + q];
    return sum;
  };
  for (int q = 0; q < k; ++q) {
    const double before = std::sqrt(dot(q, q));
    for (int pass = 0; pass < 2; ++pass) {
      for (int p = 0; p < q; ++p) {
        const double h = dot(p, q);
        r[p * k + q] += h;
        for (std::int64_t i = 0; i < rows; ++i) v[i * k + q] -= h * v[i * k + p];
      }
    }
    const double norm = std::sqrt(dot(q, q));
    const bool is_new = norm > negligible * before;
    r[q * k + q] = is_new ? norm : 0;
    for (std::int64_t i = 0; i < rows; ++i) v[i * k + q] *= is_new ? 1 / norm : 0;
  }
}

/// With modes: over each aggregate they are Q R; Q gives the prolongator, R the modes of the coarse nodes.
template <int B>
void fill_from_modes(const Grid<B>& grid, const Aggregates& aggregates, Tentative<B>& t) {
  const int k = B * grid.pieces;
  const std::int64_t all = grid.layout.all();
  const auto groups = static_cast<std::int32_t>(aggregates.of.size());
  t.value.resize(all * B * k);
  t.coarse_modes.assign(std::size_t(aggregates.count) * k * k, 0.0);
  std::vector<std::int64_t> start(aggregates.count + 1, 0);
  for (std::int32_t s = 0; s < groups; ++s)
    if (aggregates.of[s] >= 0) ++start[aggregates.of[s] + 1];
  for (std::int32_t a = 0; a < aggregates.count; ++a) start[a + 1] += start[a];
  std::vector<std::int64_t> node(start.back() * grid.group);
  auto next = start;
  for (std::int32_t s = 0; s < groups; ++s) {
    if (aggregates.of[s] < 0) continue;
    const std::int64_t place = next[aggregates.of[s]]++ * grid.group;
    for (int g = 0; g < grid.group; ++g) node[place + g] = std::int64_t{s} * grid.group + g;
  }
  parallel_ranges_throwing(aggregates.count, [&](Range range) {
    std::vector<double> v;
    for (std::int64_t a = range.begin; a < range.end; ++a) {
      const std::int64_t begin = start[a] * grid.group;
      const std::int64_t nodes = start[a + 1] * grid.group - begin;
      v.resize(nodes * B * k);
      for (std::int64_t m = 0; m < nodes; ++m)
        std::copy_n(&grid.modes[node[begin + m] * B * k], B * k, &v[m * B * k]);
      orthogonalize_modes(v, nodes * B, k, &t.coarse_modes[a * k * k]);
      for (std::int64_t m = 0; m < nodes; ++m)
        for (int e = 0; e < B * k; ++e) t.value[e * all + node[begin + m]] = v[m * B * k + e];
    }
  });
}

template <int B>
Tentative<B> make_tentative(const Grid<B>& grid, const Aggregates& aggregates, std::int64_t first) {
  Tentative<B> t;
  t.pieces = grid.pieces;
  t.first = first;
  t.count = aggregates.count * grid.pieces;
  t.aggregate.resize(grid.layout.all());
  parallel_for(grid.layout.own(), [&](std::int64_t i) {
    const std::int32_t a = aggregates.of[i / grid.group];
    t.aggregate[i] = a < 0 ? Aggregates::none : first + std::int64_t{a} * grid.pieces;
  });
  if (grid.pieces == 1) {
    fill_from_near_null(grid, aggregates, t);
  } else {
    fill_from_modes(grid, aggregates, t);
  }
  return t;
}

}  // namespace ayatori::solvers::amg
