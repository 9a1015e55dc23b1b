#include "ayatori/tuning/run/scaled_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/pattern/row_figures.hpp"

namespace ayatori::tuning {

namespace {

using solvers::ConstVector;
using solvers::Vector;

constexpr double unbounded = std::numeric_limits<double>::infinity();

void change_signs(sparse::Csr& csr) {
  solvers::scale(-1, csr.value);
}

/// x = 2^exponent x, exact unless the result leaves the range of double.
void scale_by_power_of_two(Vector x, int exponent) {
  using limits = std::numeric_limits<double>;
  if (limits::min_exponent <= exponent && exponent < limits::max_exponent)
    return solvers::scale(std::ldexp(1.0, exponent), x);
  parallel_for(static_cast<std::int64_t>(x.size()),
               [&](std::int64_t i) { x[i] = std::ldexp(x[i], exponent); });
}

double root_of_difference(double a, double b) {
  return std::sqrt(std::max((a - b) * (a + b), 0.0));
}

}  // namespace

std::shared_ptr<const sparse::SplitMatrix> negated(const sparse::SplitMatrix& parts) {
  auto copy = std::make_shared<sparse::SplitMatrix>(parts);
  change_signs(copy->interior);
  change_signs(copy->halo);
  return copy;
}

ScaledSystem::ScaledSystem(const solvers::GlobalSum& sum, std::shared_ptr<const sparse::SplitMatrix> parts,
                           ConstVector b, bool negate, const MatrixFacts& facts, double rtol)
    : sum_(sum), rtol_(rtol), rows_(parts->partition.rows()) {
  comm::agree(sum.comm(), [&] {
    parts_ = negate ? negated(*parts) : std::move(parts);
    b_.resize(b.size());
    solvers::copy(b, b_);
    if (negate) solvers::scale(-1, b_);
  });
  const double largest = sum.comm().allreduce(solvers::local_max_abs(b), comm::ReduceOp::max);
  std::frexp(largest, &exponent_);
  scale_by_power_of_two(b_, -exponent_);
  b_norm_ = reachable_ = solvers::norm(sum, b_);
  null_spaces_ = solvers::find_null_spaces(sum.comm(), *parts_, facts.symmetric && !facts.symmetric_inside,
                                           facts.row_sums);
  if (!null_spaces_.left->empty()) {
    Array<double> reachable;
    comm::agree(sum.comm(), [&] { reachable.assign(b_.begin(), b_.end()); });
    null_spaces_.left->project_out(reachable);
    reachable_ = solvers::norm(sum, reachable);
    solvers::subtract(b_, reachable, reachable);
    unreachable_ = solvers::norm(sum, reachable);
  }
  // Where the diagonal is all that there is, one solution by it is all that there is to do.
  if (facts.boundary_rows > 0 && facts.boundary_rows < facts.rows) find_boundary_rows(facts);
}

void ScaledSystem::find_boundary_rows(const MatrixFacts& facts) {
  boundary_rows_ = facts.boundary_rows;
  Array<double> x;
  Array<double> r;
  comm::agree(sum_.comm(), [&] {
    const sparse::Csr& interior = parts_->interior;
    is_boundary_.assign(interior.rows, 0);
    for (std::int32_t i = 0; i < interior.rows; ++i) {
      const auto figures = sparse::row_figures(interior, i, i);
      const double diagonal = figures.diagonal;
      double sum_abs = figures.sum_abs;
      const auto h = std::ranges::lower_bound(parts_->halo_rows, i);
      if (h != parts_->halo_rows.end() && *h == i)
        sum_abs += sparse::row_figures(parts_->halo, h - parts_->halo_rows.begin(), -1).sum_abs;
      if (!sparse::is_boundary_row(std::abs(diagonal), sum_abs)) continue;
      is_boundary_[i] = 1;
      boundary_.push_back(i);
      boundary_x_.push_back(b_[i] / diagonal);
    }
    x.assign(b_.size(), 0.0);
    r.resize(b_.size());
  });
  solve_boundary_rows(x);
  const Residual left = sum_up(x, b_, r, sparse::Summation::doubled);
  others_norm_ = left.others.value;
  if (std::isfinite(left.all.value)) return;
  // Their solution is beyond what the rows can be multiplied with: nothing is solved first then.
  boundary_rows_ = 0;
  others_norm_ = 0;
  boundary_.clear();
  boundary_x_.clear();
  is_boundary_.clear();
}

void ScaledSystem::solve_boundary_rows(Vector x) const {
  for (std::size_t k = 0; k < boundary_.size(); ++k) x[boundary_[k]] = boundary_x_[k];
}

double ScaledSystem::wanted() const {
  return rtol_ * solvers::lower_bound_of_norm(b_norm_, rows_);
}

double ScaledSystem::wanted_of_others() const {
  // Where the boundary rows leave nothing there is nothing to measure by.
  return others_norm_ > 0 ? rtol_ * solvers::lower_bound_of_norm(others_norm_, rows_) : unbounded;
}

double ScaledSystem::target() const {
  const double wanted = std::min(rtol_ * b_norm_, wanted_of_others());
  if (is_consistent()) return root_of_difference(wanted, unreachable_);
  // Rounding leaves so much of b where all of it is unreachable.
  const double noise = 64 * std::numeric_limits<double>::epsilon() * b_norm_;
  return std::max(rtol_ * reachable_, noise);
}

bool ScaledSystem::is_solved_by(const Residual& residual) const {
  if (!is_consistent()) return residual.norm <= target();
  return meets_tolerance(residual);
}

bool ScaledSystem::meets_tolerance(const Residual& residual) const {
  if (b_norm_ == 0) return residual.all.value == 0;
  return residual.all.is_at_most(wanted()) && residual.others.is_at_most(wanted_of_others());
}

bool ScaledSystem::is_beyond_rounding(const Residual& residual, double share) const {
  return residual.all.rounding > share * wanted() || residual.others.rounding > share * wanted_of_others();
}

void ScaledSystem::to_scaled(Vector x) const {
  scale_by_power_of_two(x, -exponent_);
}

void ScaledSystem::to_original(Vector x) const {
  null_spaces_.right->project_out(x);
  scale_by_power_of_two(x, exponent_);
}

/// Collective.
Residual ScaledSystem::sum_up(ConstVector x, ConstVector b, Vector r, sparse::Summation summation) const {
  const auto mine = sparse::residual(sum_.comm(), *parts_, x, b, r, summation, is_boundary_);
  std::array<double, 6> sums{mine[0].squares, mine[0].error_squares, mine[0].product_squares,
                             mine[1].squares, mine[1].error_squares, mine[1].product_squares};
  sum_(std::span<double>(sums));
  const sparse::ResidualSums others{sums[0], sums[1], sums[2]};
  sparse::ResidualSums all = others;
  all.merge({sums[3], sums[4], sums[5]});
  Residual residual;
  residual.all = solvers::certified_norm(all, rows_);
  residual.others = boundary_rows_ > 0 ? solvers::certified_norm(others, rows_) : residual.all;
  residual.norm = residual.all.value;
  return residual;
}

Residual ScaledSystem::residual(ConstVector x, Vector r) const {
  Residual residual = solvers::certify(
      [&](sparse::Summation summation) { return sum_up(x, b_, r, summation); },
      [&](const Residual& plain) {
        return is_decided(plain.all, wanted()) && is_decided(plain.others, wanted_of_others());
      });
  if (null_spaces_.left->empty() && boundary_rows_ == 0) return residual;
  null_spaces_.left->project_out(r);
  constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
  for (const std::int32_t i : boundary_)
    if (std::abs(r[i]) <= rounding * std::abs(b_[i])) r[i] = 0;
  // A residual whose squares overflow is none to go on from, although its norm may be found.
  if (std::isfinite(residual.all.value)) residual.norm = solvers::norm(sum_, r);
  return residual;
}

Residual ScaledSystem::residual_of_sum(ConstVector x, ConstVector d, Vector r) const {
  Array<double> of_x;
  comm::agree(sum_.comm(), [&] { of_x.resize(r.size()); });
  const Residual first = sum_up(x, b_, of_x, sparse::Summation::doubled);
  Residual residual = sum_up(d, of_x, r, sparse::Summation::doubled);
  residual.all.error_bound += first.all.error_bound;
  residual.others.error_bound += first.others.error_bound;
  return residual;
}

Residual ScaledSystem::residual_of_zero(Vector r) const {
  AYATORI_ASSERT(boundary_rows_ == 0);
  solvers::copy(b_, r);
  null_spaces_.left->project_out(r);
  Residual residual;
  residual.norm = reachable_;
  residual.all.value = residual.others.value = b_norm_;
  return residual;
}

void describe_residual(const ScaledSystem& system, const Residual& residual, SolveReport& report) {
  const double unit = system.b_norm() > 0 ? system.b_norm() : 1;
  report.relative_residual = residual.all.value / unit;
  report.residual_error_bound = residual.all.error_bound / unit;
  report.rounding_residual = residual.all.rounding / unit;
  report.boundary_rows = system.boundary_rows();
  const double others = system.reference_norm() > 0 ? system.reference_norm() : 1;
  report.relative_residual_of_others = residual.others.value / others;
}

}  // namespace ayatori::tuning
