#include "bench/kernels/spmv.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/base/statistics.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/products/float_operator.hpp"

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
    if (scale[i] > 0) largest = worse(largest, std::abs(y[i] - reference[i]) / scale[i]);
  }
  return largest;
}

/// Seconds of f() from a barrier to the slowest rank.
template <class F>
double timed(const comm::Comm& comm, F&& f) {
  comm.barrier();
  const Stopwatch watch;
  f();
  return comm.allreduce(watch.seconds(), comm::ReduceOp::max);
}

/// A product, the vectors it is tried on, and what it should give.
struct Trial {
  const comm::Comm& comm;
  std::shared_ptr<const sparse::SplitMatrix> parts;
  Array<double> x;
  Array<double> y;
  Array<double> reference;
  Array<double> scale;
  Array<float> float_x;
  Array<float> float_y;

  Trial(const comm::Comm& on, std::shared_ptr<const sparse::SplitMatrix> of)
      : comm(on),
        parts(std::move(of)),
        x(parts->plan.local_size),
        y(x.size()),
        reference(x.size()),
        scale(row_scales(*parts)),
        float_x(x.size()),
        float_y(x.size()) {
    const std::int64_t first = parts->partition.range(comm.rank()).begin;
    parallel_for(static_cast<std::int64_t>(x.size()), [&](std::int64_t i) {
      x[i] = 2 * random_uniform(1, static_cast<std::uint64_t>(first + i)) - 1;
      y[i] = 0;
      float_x[i] = static_cast<float>(x[i]);
      float_y[i] = 0;
    });
    sparse::multiply_reference(comm, *parts, x, reference);
  }

  /// Multiplies once and compares. Throws InternalError, agreed.
  SpmvResult check(const sparse::DistributedMatrix& matrix, const sparse::ProductOptions& options) {
    matrix.apply(x, y);
    return judge(options, false,
                 matrix.matrix_bytes() + 16 * static_cast<std::int64_t>(x.size()) + parts->plan.bytes_sent());
  }
  SpmvResult check(const sparse::FloatProduct& product, const sparse::ProductOptions& options) {
    product.apply_float(float_x, float_y);
    parallel_for(static_cast<std::int64_t>(y.size()),
                 [&](std::int64_t i) { y[i] = static_cast<double>(float_y[i]) / product.scale(); });
    return judge(options, true, product.bytes() + parts->plan.bytes_sent() / 2);
  }

 private:
  SpmvResult judge(const sparse::ProductOptions& options, bool in_float, std::int64_t local_bytes) const {
    SpmvResult result{
        options, in_float, {}, 0, comm.allreduce(largest_error(y, reference, scale), comm::ReduceOp::max)};
    if (!(result.largest_error <= (in_float ? 1e-5 : 1e-12))) {
      InternalError error(fmt::format("kernel {}{} with halo {} is wrong: error {:.1e}", options.kernel,
                                      in_float ? " in float" : "", options.halo, result.largest_error));
      error.set_agreed();
      throw error;
    }
    result.bytes = comm.allreduce(static_cast<double>(local_bytes), comm::ReduceOp::sum);
    return result;
  }
};

}  // namespace

SpmvReport spmv(const comm::Comm& comm, const std::shared_ptr<const sparse::SplitMatrix>& parts,
                const std::vector<sparse::ProductOptions>& combinations, bool floats, int repetitions,
                std::int64_t stream_elements) {
  SpmvReport report;
  Trial trial(comm, parts);
  std::vector<std::unique_ptr<sparse::DistributedMatrix>> matrices;
  std::vector<std::unique_ptr<sparse::FloatProduct>> float_products;
  std::vector<std::function<void()>> apply;  // one call for each product
  for (const auto& options : combinations) {
    try {
      matrices.push_back(std::make_unique<sparse::DistributedMatrix>(comm, parts, options));
    } catch (const InputError& error) {  // agreed, so all ranks skip it
      report.skipped.push_back({options, error.what()});
      continue;
    }
    const auto* matrix = matrices.back().get();
    report.products.push_back(trial.check(*matrix, options));
    apply.emplace_back([matrix, &trial] { matrix->apply(trial.x, trial.y); });
    const bool is_new = std::ranges::none_of(report.products, [&](const SpmvResult& earlier) {
      return earlier.in_float && earlier.options.kernel == options.kernel;
    });
    if (!floats || !is_new || sparse::kernel(options.kernel).make_float == nullptr) continue;
    float_products.push_back(std::make_unique<sparse::FloatProduct>(*matrix));
    const auto* product = float_products.back().get();
    report.products.push_back(trial.check(*product, options));
    apply.emplace_back([product, &trial] { product->apply_float(trial.float_x, trial.float_y); });
  }

  Stream stream(comm, stream_elements);
  stream.run();
  stream.forget();
  std::vector<double> facts_seconds;
  std::vector<std::vector<double>> seconds(apply.size());
  for (int k = 0; k < repetitions; ++k) {
    stream.run();
    facts_seconds.push_back(timed(comm, [&] { sparse::pattern_facts(parts->interior); }));
    for (std::size_t c = 0; c < apply.size(); ++c) {
      apply[c]();
      seconds[c].push_back(timed(comm, apply[c]));
    }
  }
  report.stream = stream.result();
  report.facts_seconds = spread(facts_seconds);
  for (std::size_t c = 0; c < apply.size(); ++c) report.products[c].seconds = spread(seconds[c]);
  return report;
}

}  // namespace ayatori::bench
