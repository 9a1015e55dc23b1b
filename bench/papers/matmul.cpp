#include "bench/papers/matmul.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/base/statistics.hpp"
#include "ayatori/comm/agree.hpp"
#include "bench/papers/summa.hpp"

namespace ayatori::bench {

namespace {

/// What the options say, found to be possible.
struct Plan {
  RankGrid grid;
  std::int64_t panel;
  const MatmulForm* form;
  std::vector<const LocalProductType*> locals;
};

Plan make_plan(int ranks, const MatmulOptions& options) {
  if (options.n < 1 || options.n > std::numeric_limits<int>::max())
    throw InputError(fmt::format("matrix product of size {}: choose 1 to 2^31 - 1", options.n));
  if (options.panel < 0 || options.panel > options.n)
    throw InputError(fmt::format("panels of {} columns: choose 1 to {}", options.panel, options.n));
  if (options.repetitions < 1) throw InputError("matrix product: at least one repetition");
  Plan plan{*most_square_grid(ranks), options.panel, &find_named(matmul_forms(), options.form, "form"), {}};
  constexpr std::int64_t panels_of_rank = 4;  // enough of them to have most of their travel behind products
  if (plan.panel == 0) {
    plan.panel = options.n;
    if (ranks > 1) plan.panel = (options.n - 1) / (panels_of_rank * plan.grid.rows) + 1;
  }
  for (const auto& name : options.locals)
    plan.locals.push_back(&find_named(local_products(), name, "local product"));
  if (plan.locals.empty()) throw InputError("matrix product: no local product is chosen");
  return plan;
}

/// Collective. The whole of M x on every rank; with absolute values of M's elements, if so wished.
std::vector<double> multiply(const comm::Comm& comm, const MatrixBlock& m, const std::vector<double>& x,
                             bool absolute) {
  std::vector<double> y(x.size());
  for (std::int64_t i = m.rows.begin; i < m.rows.end; ++i) {
    for (std::int64_t j = m.columns.begin; j < m.columns.end; ++j) {
      const double value = m.row(i)[j - m.columns.begin];
      y[i] += (absolute ? std::abs(value) : value) * x[j];
    }
  }
  comm.allreduce(std::span<double>(y), comm::ReduceOp::sum);
  return y;
}

/// What C v has to be, and by how much it may differ.
struct Expected {
  std::vector<double> v;
  std::vector<double> cv;
  std::vector<double> scale;  ///< n epsilon |A| |B| |v|
};

Expected expected_of(const comm::Comm& comm, const MatrixBlock& a, const MatrixBlock& b, std::int64_t n) {
  Expected expected;
  expected.v.resize(n);
  for (std::int64_t i = 0; i < n; ++i) expected.v[i] = random_uniform(3, i);  // not negative: |v| = v
  expected.cv = multiply(comm, a, multiply(comm, b, expected.v, false), false);
  expected.scale = multiply(comm, a, multiply(comm, b, expected.v, true), true);
  for (double& scale : expected.scale)
    scale *= static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  return expected;
}

/// Collective. Throws InternalError, agreed.
double checked_error(const comm::Comm& comm, const MatrixBlock& c, const Expected& expected,
                     std::string_view local) {
  const auto cv = multiply(comm, c, expected.v, false);
  double error = 0;
  for (std::size_t i = 0; i < cv.size(); ++i)
    error = worse(error, std::abs(cv[i] - expected.cv[i]) / expected.scale[i]);
  comm::agree(comm, [&] {
    // Each of the three products errs by less than n epsilon times the absolute values.
    if (!(error <= 3))
      throw InternalError(
          fmt::format("matrix product {}: C v differs from A (B v) by {} times the bound", local, error));
  });
  return error;
}

}  // namespace

MatmulResult time_matmul(const comm::Comm& comm, const MatmulOptions& options) {
  const auto plan = comm::agree(comm, [&] { return make_plan(comm.size(), options); });
  const auto block = [&](std::uint64_t seed) {
    return comm::agree(comm, [&] { return random_block(options.n, plan.grid, comm.rank(), seed); });
  };
  const auto a = block(1);
  const auto b = block(2);
  auto c = block(3);
  Summa summa(comm, plan.grid, options.n, plan.panel, *plan.form);
  const auto expected = expected_of(comm, a, b, options.n);
  std::vector<PhaseTimes> times(plan.locals.size(), PhaseTimes({"total", "product", "exchange"}));
  MatmulResult result{plan.grid, plan.panel, {}};
  for (const auto* local : plan.locals) result.timings.push_back({std::string(local->name), {}, 0, 0});
  for (int repetition = -1; repetition < options.repetitions; ++repetition) {  // the first warms up
    for (std::size_t turn = 0; turn < plan.locals.size(); ++turn) {
      const std::size_t i = repetition % 2 == 0 ? turn : plan.locals.size() - 1 - turn;  // A B B A
      comm.barrier();
      const auto seconds = summa.multiply(a, b, c, *plan.locals[i]);
      if (repetition >= 0) times[i].add(comm, {seconds.total, seconds.product, seconds.exchange});
      if (repetition < 0 || repetition == options.repetitions - 1)
        result.timings[i].error = checked_error(comm, c, expected, plan.locals[i]->name);
    }
  }
  const double flops = 2 * std::pow(static_cast<double>(options.n), 3);
  for (std::size_t i = 0; i < times.size(); ++i) {
    result.timings[i].phases = times[i].phases();
    result.timings[i].flops_per_second = flops / result.timings[i].phases.front().seconds.median;
  }
  return result;
}

}  // namespace ayatori::bench
