#include "bench/spmv.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::bench {

namespace {

/// sum_j |a_ij| for every local row: the scale of rounding errors when |x_j| <= 1.
Array<double> row_scales(const sparse::SplitMatrix& parts) {
  Array<double> scale(parts.plan.local_size, 0.0);
  for (std::int32_t i = 0; i < parts.interior.rows; ++i) {
    for (auto k = parts.interior.row_start[i]; k < parts.interior.row_start[i + 1]; ++k)
      scale[i] += std::abs(parts.interior.value[k]);
  }
  for (std::int32_t r = 0; r < parts.halo.rows; ++r) {
    for (auto k = parts.halo.row_start[r]; k < parts.halo.row_start[r + 1]; ++k)
      scale[parts.halo_rows[r]] += std::abs(parts.halo.value[k]);
  }
  return scale;
}

double largest_error(const Array<double>& y, const Array<double>& reference, const Array<double>& scale) {
  double largest = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (scale[i] > 0) largest = std::max(largest, std::abs(y[i] - reference[i]) / scale[i]);
  }
  return largest;
}

}  // namespace

std::vector<SpmvResult> spmv(const comm::Comm& comm, const std::shared_ptr<const sparse::SplitMatrix>& parts,
                             const std::vector<sparse::ProductOptions>& combinations, int repetitions) {
  const std::int64_t size = parts->plan.local_size;
  const std::int64_t first = parts->partition.range(comm.rank()).begin;
  Array<double> x(size);
  Array<double> y(size);
  Array<double> reference(size);
  parallel_for(
      size, [&](std::int64_t i) { x[i] = 2 * random_uniform(1, static_cast<std::uint64_t>(first + i)) - 1; });
  parallel_for(size, [&](std::int64_t i) { y[i] = 0; });
  sparse::multiply_reference(comm, *parts, x, reference);
  const auto scale = row_scales(*parts);

  std::vector<std::unique_ptr<sparse::DistributedMatrix>> matrices;
  std::vector<SpmvResult> results;
  for (const auto& options : combinations) {
    matrices.push_back(std::make_unique<sparse::DistributedMatrix>(comm, parts, options));
    matrices.back()->apply(x, y);
    SpmvResult result{
        options, {}, 0, comm.allreduce(largest_error(y, reference, scale), comm::ReduceOp::max)};
    if (result.largest_error > 1e-12) {
      InternalError error(fmt::format("kernel {} with halo {} is wrong: error {:.1e}", options.kernel,
                                      options.halo, result.largest_error));
      error.set_agreed();
      throw error;
    }
    const auto local_bytes =
        static_cast<double>(matrices.back()->matrix_bytes() + 16 * size + parts->plan.bytes_sent());
    result.bytes = comm.allreduce(local_bytes, comm::ReduceOp::sum);
    results.push_back(result);
  }

  std::vector<std::vector<double>> seconds(combinations.size());
  for (int k = 0; k < repetitions; ++k) {
    for (std::size_t c = 0; c < combinations.size(); ++c) {
      comm.barrier();
      const Stopwatch watch;
      matrices[c]->apply(x, y);
      seconds[c].push_back(comm.allreduce(watch.seconds(), comm::ReduceOp::max));
    }
  }
  for (std::size_t c = 0; c < combinations.size(); ++c) results[c].seconds = spread(seconds[c]);
  return results;
}

}  // namespace ayatori::bench
