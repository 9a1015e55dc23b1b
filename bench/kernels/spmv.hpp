#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ayatori/base/statistics.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "bench/kernels/stream.hpp"

namespace ayatori::bench {

/// Products with one kernel and halo strategy. In single precision, vectors and sums included, ghosts travel
/// by sparse::FloatProduct's own exchange, whatever the strategy.
struct SpmvResult {
  sparse::ProductOptions options;
  bool in_float = false;
  Spread seconds;  ///< one product, slowest rank
  double bytes =
      0;  ///< least traffic of one product, all ranks: matrix as stored, x read, y written, once each
  double largest_error = 0;  ///< max |y - y_ref| / (row sum of |a_ij x_j|), about 1e-16 or 1e-7 when right
};

/// A combination that was not timed, as its kernel cannot hold the matrix.
struct SpmvSkipped {
  sparse::ProductOptions options;
  std::string why;
};

/// Products, and what the machine and the tuner's look at the matrix took at the same time.
struct SpmvReport {
  StreamResult stream;
  Spread facts_seconds;  ///< time of sparse::pattern_facts(), slowest rank
  std::vector<SpmvResult> products;
  std::vector<SpmvSkipped> skipped;
};

/// Collective. Times the product of `parts` for every combination given, `repetitions` rounds of all of them,
/// with STREAM (vectors of `stream_elements`) in every round. Each timed product follows an untimed one, so
/// that a matrix that fits into the caches is found there, as in a solver. With `floats` kernels that have a
/// form in single precision are also timed so. Results are compared with the reference product first: throws
/// InternalError (agreed) if one is wrong.
SpmvReport spmv(const comm::Comm& comm, const std::shared_ptr<const sparse::SplitMatrix>& parts,
                const std::vector<sparse::ProductOptions>& combinations, bool floats, int repetitions,
                std::int64_t stream_elements);

}  // namespace ayatori::bench
