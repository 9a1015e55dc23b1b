#include "ayatori/solvers/certified_solve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/refinement.hpp"

namespace ayatori::solvers {

namespace {

using Limits = std::numeric_limits<double>;

/// A power of two whose inverse is a double too.
double power_of_two_near(double value) {
  int exponent = 0;
  if (std::isfinite(value)) std::frexp(value, &exponent);
  return std::ldexp(1.0, std::clamp(exponent, Limits::min_exponent, Limits::max_exponent - 1));
}

/// Beyond it, either way, the smallest residuals that are asked for may have no inverse.
constexpr double extreme = 0x1p500;

void multiply(double factor, ConstVector from, Vector to) {
  parallel_for(static_cast<std::int64_t>(from.size()), [&](std::int64_t i) { to[i] = factor * from[i]; });
}

/// Collective. Runs the method on A (x / unit) = b / unit where b is extreme; whoever is told of progress
/// finds x in its own scale.
/// `options.target` is in units.
MethodResult run(const Method& method, const System& system, Vector x, double unit, MethodOptions options,
                 const Orthogonalize& orthogonalize, const Progress& progress) {
  if (1 / extreme <= unit && unit <= extreme) {
    options.target *= unit;
    return method.solve(system, x, options, orthogonalize, progress);
  }
  Array<double> b_in_units;
  Array<double> x_in_units;
  comm::agree(system.sum.comm(), [&] {
    b_in_units.resize(x.size());
    x_in_units.resize(x.size());
  });
  multiply(1 / unit, system.b, b_in_units);
  multiply(1 / unit, x, x_in_units);
  if (options.next_cycle)
    options.next_cycle = [&, told = std::move(options.next_cycle)](Cycle& cycle) {
      multiply(unit, x_in_units, x);
      told(cycle);
    };
  const auto tell = [&](int iteration, double norm) {
    if (!progress) return true;
    multiply(unit, x_in_units, x);
    return progress(iteration, norm * unit);
  };
  MethodResult result =
      method.solve({system.a, system.m, b_in_units, system.sum}, x_in_units, options, orthogonalize, tell);
  multiply(unit, x_in_units, x);
  result.residual_norm *= unit;
  return result;
}

}  // namespace

Tolerance make_tolerance(const GlobalSum& sum, ConstVector b, double rtol, double atol) {
  Tolerance tolerance;
  tolerance.unit = power_of_two_near(sum.comm().allreduce(local_max_abs(b), comm::ReduceOp::max));
  const double inverse = 1 / tolerance.unit;
  Array<double> scaled;
  comm::agree(sum.comm(), [&] { scaled.resize(b.size()); });
  multiply(inverse, b, scaled);
  tolerance.b_norm = norm(sum, scaled);
  const std::int64_t rows = sum.comm().allreduce(static_cast<std::int64_t>(b.size()), comm::ReduceOp::sum);
  tolerance.limit = std::max(rtol * lower_bound_of_norm(tolerance.b_norm, rows), atol * inverse);
  // No residual that overflowed is within an endless tolerance.
  if (tolerance.limit > Limits::max()) tolerance.limit = Limits::max();
  if (!std::isfinite(tolerance.b_norm)) tolerance.limit = Limits::quiet_NaN();
  return tolerance;
}

CertifiedNorm certified_residual(const GlobalSum& sum, const ResidualFunction& residual, ConstVector x,
                                 const Tolerance& tolerance, std::int64_t rows) {
  const auto norm_by = [&](sparse::Summation summation) {
    const sparse::ResidualSums mine = residual(x, summation, tolerance.unit);
    std::array<double, 3> sums{mine.squares, mine.error_squares, mine.product_squares};
    sum(sums);
    return certified_norm({sums[0], sums[1], sums[2]}, rows);
  };
  return certify(norm_by, [&](const CertifiedNorm& plain) { return is_decided(plain, tolerance.limit); });
}

ResidualFunction residual_by_product(const System& system) {
  return [&system](ConstVector x, sparse::Summation, double unit) {
    Array<double> r(x.size());
    system.a.apply(x, r);
    subtract(system.b, r, r);
    scale(1 / unit, r);
    return sparse::ResidualSums{.squares = local_dot(r, r)};
  };
}

CertifiedResult solve_certified(const Method& method, const System& system, Vector x,
                                const ResidualFunction& residual, const Tolerance& tolerance,
                                MethodOptions options, const Orthogonalize& orthogonalize,
                                const Progress& progress) {
  const std::int64_t rows =
      system.sum.comm().allreduce(static_cast<std::int64_t>(x.size()), comm::ReduceOp::sum);
  const auto proof = [&] { return certified_residual(system.sum, residual, x, tolerance, rows); };
  const int max_iterations = options.max_iterations;
  CertifiedResult result;
  result.residual = proof();
  Refinement refinement;
  while (std::isfinite(result.residual.value) && !result.residual.is_at_most(tolerance.limit) &&
         result.iterations < max_iterations) {
    options.target = refinement.aim(tolerance.limit);
    options.max_iterations = max_iterations - static_cast<int>(result.iterations);
    result.last = run(method, system, x, tolerance.unit, options, orthogonalize, progress);
    result.iterations += result.last.iterations;
    const double before = std::exchange(result.residual, proof()).value;
    if (result.last.stop != Stop::converged || !refinement.goes_on(result.residual.value, before)) break;
  }
  result.is_proved = result.residual.is_at_most(tolerance.limit);
  return result;
}

}  // namespace ayatori::solvers
