#pragma once

#include <cmath>

#include "ayatori/base/random.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::tests {

/// Couplings of cell (x, y, z) of an n x n x depth grid with its neighbours; depth 1: a square.
struct GridProblem {
  std::int64_t n;
  std::int64_t depth = 1;
  double along_x = 1;
  double wind = 0;         ///< upwind, along x
  double skew = 0;         ///< u_xy besides, on a square: strong along a diagonal
  double neumann = 0;      ///< 1: no Dirichlet boundary
  double jump = 1;         ///< coefficient of every other quarter
  bool roughened = false;  ///< scaled from both sides by rough()
  int unknowns = 1;        ///< per cell: L x K with K = 1 on the diagonal and 0.3 beside it

  std::int64_t cells() const { return n * n * depth; }
  std::int64_t rows() const { return cells() * unknowns; }

  double coefficient(std::int64_t x, std::int64_t y) const {
    return (4 * x / n + 4 * y / n) % 2 == 0 ? 1 : jump;
  }

  void add_row(std::int64_t row, Array<sparse::Entry>& entries) const {
    const std::int64_t cell = row / unknowns;
    const std::int64_t at[3] = {cell % n, cell / n % n, cell / n / n};
    const std::int64_t size[3] = {n, n, depth};
    const std::int64_t stride[3] = {1, n, n * n};
    double diagonal = 1e-12;
    for (int d = 0; d < 3; ++d) {
      for (const int side : {-1, 1}) {
        if (size[d] == 1) continue;
        const std::int64_t other = at[d] + side;
        const bool inside = 0 <= other && other < size[d];
        const double k = coefficient(at[0], at[1]);
        const double k_other = inside ? coefficient(d == 0 ? other : at[0], d == 1 ? other : at[1]) : k;
        double face = 2 * k * k_other / (k + k_other) * (d == 0 ? along_x : 1);
        if (d == 0 && side < 0) face += wind;
        if (inside || neumann == 0) diagonal += face;
        if (inside)
          for (int u = 0; u < unknowns; ++u) {
            const bool same = u == row % unknowns;
            entries.push_back({row, (cell + side * stride[d]) * unknowns + u, same ? -face : -0.3 * face});
          }
      }
    }
    for (const int dx : {-1, 1})
      for (const int dy : {-1, 1})
        if (skew != 0 && 0 <= at[0] + dx && at[0] + dx < n && 0 <= at[1] + dy && at[1] + dy < n)
          entries.push_back({row, cell + dy * n + dx, -skew * dx * dy});
    for (int u = 0; u < unknowns; ++u)
      entries.push_back({row, cell * unknowns + u, u == row % unknowns ? diagonal : 0.3 * diagonal});
  }
};

/// A factor between -100 and 100, of either sign, at random.
inline double rough(std::int64_t row) {
  return std::pow(100.0, 2 * random_uniform(5, row) - 1) * (random_uniform(6, row) < 0.5 ? -1 : 1);
}

inline sparse::DistributedMatrix spread(const comm::Comm& comm, const GridProblem& grid) {
  const auto partition = sparse::RowPartition::even(grid.rows(), comm.size());
  Array<sparse::Entry> entries;
  const Range mine = partition.range(comm.rank());
  for (std::int64_t i = mine.begin; i < mine.end; ++i) grid.add_row(i, entries);
  if (grid.roughened)
    for (auto& entry : entries) entry.value *= rough(entry.row) * rough(entry.column);
  return {comm, sparse::assemble(comm, partition, grid.rows(), {entries})};
}

}  // namespace ayatori::tests
