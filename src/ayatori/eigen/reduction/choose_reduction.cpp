#include "ayatori/eigen/reduction/choose_reduction.hpp"

#include <algorithm>
#include <ctime>
#include <limits>

#include "ayatori/base/timing.hpp"
#include "ayatori/eigen/reduction/bulge_chasing.hpp"
#include "ayatori/eigen/reduction/reduction.hpp"
#include "ayatori/eigen/reduction/symmetric_product.hpp"

namespace ayatori::eigen {

namespace {

constexpr std::int64_t product_rows = 512;
constexpr std::int64_t product_columns = 64;
constexpr int repeats = 3;
constexpr std::int64_t chase_blocks = 6;  // order of a band to try, in widths

/// Seconds of the processor that this thread has had.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The least seconds of some runs; the first one may warm caches up. Where others take turns with this rank
/// it is those that it works, and where the clock stands still, since computing is simulated to take no time,
/// the same for everything.
template <class Run>
double least_seconds(Run&& run) {
  double least = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const Stopwatch watch;
    const double before = processor_seconds();
    run();
    least = std::min({least, watch.seconds(), processor_seconds() - before});
  }
  return std::max(least, 1e-9);
}

double chase_flops(std::int64_t width) {
  const ChaseLayout layout(chase_blocks * width, width, 1);
  const auto steps = static_cast<double>(layout.count_steps(0, {0, layout.sweeps()}));
  return 12 * steps * static_cast<double>(width) * static_cast<double>(width);
}

/// Operations that measure_rates() spends, but for those with the matrix, which are few.
double probe_flops(std::int64_t block) {
  return repeats * (chase_flops(block) + 4.0 * static_cast<double>(product_rows * product_columns * block));
}

}  // namespace

double seconds_of(const PhaseWork& work, const ComputingRates& rates) {
  return work.product_flops / rates.product_flops + work.streamed_bytes / rates.streamed_bytes +
         work.cached_flops / rates.cached_flops;
}

template <class T>
double measure_chase_rate(std::int64_t width) {
  BandOf<T> band{chase_blocks * width, width, Array<T>(chase_blocks * width * (width + 1))};
  for (std::size_t i = 0; i < band.values.size(); ++i) band.values[i] = T{1} / static_cast<T>(1 + i % 97);
  for (std::int64_t j = 0; j < band.n; ++j) {
    for (std::int64_t d = band.n - j; d <= width; ++d) band.column(j)[d] = 0;
  }
  const auto self = comm::Comm::self();
  return chase_flops(width) / least_seconds([&] { chase(self, band, false); });
}

namespace {

/// Collective. All but the chase, which is taken to cost nothing.
template <class T>
ComputingRates measure_with_matrix(const DenseOf<T>& a, std::int64_t block) {
  const std::int64_t inner = 2 * block;
  const Array<T> left(product_rows * inner, T{1});
  Array<T> result(product_rows * product_columns, T{0});
  const double product = least_seconds([&] {
    multiply<T>(-1, Op::none, {left.data(), product_rows, inner, product_rows}, Op::transpose,
                {left.data(), product_columns, inner, product_rows}, 1,
                {result.data(), product_rows, product_columns, product_rows});
  });

  const std::int64_t rows = a.rows.count();
  const std::int64_t columns = a.columns.count();
  SymmetricProduct<T> multiply_by_a(a);
  std::vector<T> x(rows + columns, T{0});
  std::vector<T> y(rows + columns, T{0});
  const double stream =
      least_seconds([&] { multiply_by_a(0, x.data(), x.data() + rows, y.data(), y.data() + rows); });

  double seconds[2] = {product, stream};
  a.grid.all.allreduce(std::span<double>(seconds), comm::ReduceOp::max);
  const auto n = static_cast<double>(a.order());
  return {2.0 * static_cast<double>(product_rows * product_columns * inner) / seconds[0],
          sizeof(T) * n * n / 2 / a.grid.all.size() / seconds[1], std::numeric_limits<double>::infinity()};
}

/// Collective.
template <class T>
void measure_chase(const DenseOf<T>& a, std::int64_t block, ComputingRates& rates) {
  const double seconds = 1 / measure_chase_rate<T>(std::max<std::int64_t>(block, 2));
  rates.cached_flops = 1 / a.grid.all.allreduce(seconds, comm::ReduceOp::max);
}

}  // namespace

template <class T>
ComputingRates measure_rates(const DenseOf<T>& a, std::int64_t block) {
  ComputingRates rates = measure_with_matrix(a, block);
  measure_chase(a, block, rates);
  return rates;
}

template <class T>
std::string choose_reduction(const DenseOf<T>& a, const EigenOptions& options, ProblemKind kind) {
  if (options.reduction != "auto") return options.reduction;
  const comm::Comm& comm = a.grid.all;
  EigenOptions tried = options;
  tried.block = std::min(options.block, a.order());
  const auto n = static_cast<double>(a.order());
  const Reduction& first = reductions().front();
  if (4.0 / 3 * n * n * n / comm.size() < 30 * probe_flops(tried.block)) return std::string(first.name);
  ComputingRates rates = measure_with_matrix(a, tried.block);
  const auto seconds = [&](const Reduction& reduction) {
    tried.reduction = reduction.name;
    double sum = 0;
    for (const PhaseWork& work : work_of(a.order(), a.grid.shape, 0, tried, kind))
      sum += seconds_of(work, rates);
    return sum;
  };
  const auto fastest = [&] {
    const Reduction* best = &first;
    for (const Reduction& reduction : reductions()) {
      if (reduction.one_rank_only && comm.size() > 1) continue;
      if (seconds(reduction) >= seconds(*best)) continue;
      tried.reduction = reduction.name;
      if (fits_memory(comm, a.order(), tried, kind)) best = &reduction;
    }
    return std::string(best->name);
  };
  // The first has no chase: what is slower than it with a chase that costs nothing need not be measured.
  if (fastest() == first.name) return std::string(first.name);
  measure_chase(a, tried.block, rates);
  return fastest();
}

template double measure_chase_rate<double>(std::int64_t width);
template ComputingRates measure_rates(const DenseOf<double>& a, std::int64_t block);
template std::string choose_reduction(const DenseOf<double>& a, const EigenOptions& options,
                                      ProblemKind kind);
template double measure_chase_rate<float>(std::int64_t width);
template ComputingRates measure_rates(const DenseOf<float>& a, std::int64_t block);
template std::string choose_reduction(const DenseOf<float>& a, const EigenOptions& options, ProblemKind kind);

}  // namespace ayatori::eigen
