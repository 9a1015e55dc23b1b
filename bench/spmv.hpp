#pragma once

#include <string>
#include <vector>

#include "ayatori/base/statistics.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::bench {

/// Products with one kernel and halo strategy.
struct SpmvResult {
  sparse::ProductOptions options;
  Spread seconds;  ///< of one product, slowest rank
  double bytes =
      0;  ///< least traffic of one product, all ranks: matrix as stored, x read, y written, once each
  double largest_error = 0;  ///< max |y - y_ref| / (row sum of |a_ij x_j|), about 1e-16 when right
};

/// Collective. Times the product of `parts` for every combination given, interleaved, `repetitions` times
/// after a warm-up. Results are compared with the reference product first: throws InternalError (agreed) if
/// one is wrong.
std::vector<SpmvResult> spmv(const comm::Comm& comm, const std::shared_ptr<const sparse::SplitMatrix>& parts,
                             const std::vector<sparse::ProductOptions>& combinations, int repetitions);

}  // namespace ayatori::bench
