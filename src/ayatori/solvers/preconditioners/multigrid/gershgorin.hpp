#pragma once

#include <algorithm>
#include <cmath>

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/multigrid/grid.hpp"

namespace ayatori::solvers::amg {

/// Row sums of absolute values bound the eigenvalues (Gershgorin). Collective.
template <int B>
double gershgorin(const Grid<B>& grid) {
  const BlockCsr<B>& a = grid.matrix;
  const double largest = comm::agree(grid.layout.comm, [&] {
    Array<double> sum(a.rows);
    parallel_for(a.rows, [&](std::int64_t i) {
      double row[B] = {};
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
        for (int r = 0; r < B; ++r)
          for (int c = 0; c < B; ++c) row[r] += std::abs(a.block(k)[r * B + c]);
      sum[i] = *std::max_element(row, row + B);
    });
    return sum.empty() ? 0 : *std::ranges::max_element(sum);
  });
  return grid.layout.comm.allreduce(largest, comm::ReduceOp::max);
}

}  // namespace ayatori::solvers::amg
