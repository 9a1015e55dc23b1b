#include "ayatori/tuning/scaled_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::tuning {

namespace {

using solvers::ConstVector;
using solvers::Vector;

void change_signs(sparse::Csr& csr) {
  solvers::scale(-1, csr.value);
}

std::shared_ptr<const sparse::SplitMatrix> negated(const sparse::SplitMatrix& parts) {
  auto copy = std::make_shared<sparse::SplitMatrix>(parts);
  change_signs(copy->interior);
  change_signs(copy->halo);
  return copy;
}

/// x = 2^exponent x, exact unless the result leaves the range of double.
void scale_by_power_of_two(Vector x, int exponent) {
  using limits = std::numeric_limits<double>;
  if (limits::min_exponent <= exponent && exponent < limits::max_exponent)
    return solvers::scale(std::ldexp(1.0, exponent), x);
  parallel_for(static_cast<std::int64_t>(x.size()),
               [&](std::int64_t i) { x[i] = std::ldexp(x[i], exponent); });
}

}  // namespace

ScaledSystem::ScaledSystem(const solvers::GlobalSum& sum, std::shared_ptr<const sparse::SplitMatrix> parts,
                           ConstVector b, bool negate, const MatrixFacts& facts)
    : sum_(sum) {
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
  null_spaces_ = solvers::find_null_spaces(sum.comm(), *parts_, facts.symmetric, facts.row_sums);
  if (null_spaces_.left->empty()) return;
  comm::agree(sum.comm(), [&] { set_aside_.assign(b_.begin(), b_.end()); });
  null_spaces_.left->project_out(b_);
  solvers::subtract(set_aside_, b_, set_aside_);
  reachable_ = solvers::norm(sum, b_);
  unreachable_ = solvers::norm(sum, set_aside_);
}

double ScaledSystem::target(double rtol) const {
  const double wanted = rtol * b_norm_;
  if (is_consistent(rtol)) return std::sqrt((wanted - unreachable_) * (wanted + unreachable_));
  // Rounding leaves so much of b where all of it is unreachable.
  const double noise = 64 * std::numeric_limits<double>::epsilon() * b_norm_;
  return std::max(rtol * reachable_, noise);
}

void ScaledSystem::to_scaled(Vector x) const {
  scale_by_power_of_two(x, -exponent_);
}

void ScaledSystem::to_original(Vector x) const {
  null_spaces_.right->project_out(x);
  scale_by_power_of_two(x, exponent_);
}

double ScaledSystem::residual(ConstVector x, Vector r) const {
  sparse::multiply_reference(sum_.comm(), *parts_, x, r);
  solvers::subtract(b_, r, r);
  return solvers::norm(sum_, r);
}

double ScaledSystem::residual_of_zero(Vector r) const {
  solvers::copy(b_, r);
  return reachable_;
}

double ScaledSystem::add_unreachable(double norm, Vector r) const {
  if (null_spaces_.left->empty()) return norm;
  solvers::axpy(1, set_aside_, r);
  return solvers::norm(sum_, r);
}

}  // namespace ayatori::tuning
