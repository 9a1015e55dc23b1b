#include "ayatori/session/solve/verify.hpp"

#include <algorithm>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::session {

solvers::ResidualFunction residual_by_entries(const comm::Comm& comm, const sparse::SplitMatrix& parts,
                                              solvers::ConstVector b) {
  return [&comm, &parts, b](solvers::ConstVector x, sparse::Summation summation, double unit) {
    // In that unit no square overflows. It is a power of two: nothing is rounded, but what underflows beside
    // a b of 1.
    Array<double> scaled_b;
    Array<double> scaled_x;
    Array<double> r;
    comm::agree(comm, [&] {
      scaled_b.assign(b.begin(), b.end());
      scaled_x.assign(x.begin(), x.end());
      r.resize(x.size());
    });
    solvers::scale(1 / unit, scaled_b);
    solvers::scale(1 / unit, scaled_x);
    return sparse::residual(comm, parts, scaled_x, scaled_b, r, summation)[0];
  };
}

Verified verify(const solvers::GlobalSum& sum, const solvers::ResidualFunction& residual,
                solvers::ConstVector b, solvers::ConstVector x, double rtol) {
  const auto tolerance = solvers::make_tolerance(sum, b, rtol, 0);
  const bool is_zero = !sum.comm().any(std::ranges::any_of(x, [](double element) { return element != 0; }));
  if (tolerance.b_norm == 0 && is_zero) return {0, 0, true};  // no bound of a computed residual is as small
  const auto rows = sum.comm().allreduce(static_cast<std::int64_t>(b.size()), comm::ReduceOp::sum);
  const auto proved = solvers::certified_residual(sum, residual, x, tolerance, rows);
  const double b_norm = tolerance.b_norm > 0 ? tolerance.b_norm : 1;
  return {proved.value / b_norm, proved.error_bound / b_norm, proved.is_at_most(tolerance.limit)};
}

}  // namespace ayatori::session
