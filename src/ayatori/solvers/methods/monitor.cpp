#include "ayatori/solvers/methods/monitor.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::solvers {

namespace {

bool can_scale_by(double unit) {
  return unit > 0 && std::isfinite(unit) && std::isfinite(1 / unit);
}

}  // namespace

double scaled_residual(const System& system, ConstVector x, Vector r) {
  system.a.apply(x, r);
  subtract(system.b, r, r);
  const double unit = norm(system.sum, r);
  if (can_scale_by(unit)) scale(1 / unit, r);
  return unit;
}

FirstResidual first_residual(const System& system, ConstVector x, Vector r) {
  const double true_norm = scaled_residual(system, x, r);
  if (system.split == nullptr || !can_scale_by(true_norm)) return {true_norm, true_norm};
  system.split->to_split(r);
  const double share = norm(system.sum, r);
  if (can_scale_by(share * true_norm) && can_scale_by(share)) scale(1 / share, r);
  return {share * true_norm, true_norm};
}

Monitor::Monitor(const System& system, const MethodOptions& options, const Progress& progress,
                 FirstResidual first)
    : options_(options),
      progress_(progress),
      sum_(system.sum),
      unit_(first.unit),
      split_(system.split),
      measured_norm_(first.true_norm),
      mark_norm_(first.true_norm) {
  if (split_ != nullptr && can_scale_by(first.unit)) true_share_ = first.true_norm / first.unit;
  begin(first.true_norm);
}

Monitor::Monitor(const GlobalSum& sum, const MethodOptions& options, const Progress& progress, double unit)
    : options_(options), progress_(progress), sum_(sum), unit_(unit), mark_norm_(unit) {
  begin(unit);
}

void Monitor::begin(double norm) {
  result_.residual_norm = norm;
  judge(norm);
  if (!stopped_ && !can_scale_by(unit_)) {
    breakdown(fmt::format("the norm of the residual, {:.3g}, is too small for double precision", unit_));
  }
}

/// Norms between two measurements go by the last one. What is seen shrinks otherwise than the residual, but
/// by a factor that changes slowly.
void Monitor::measure(double scaled_norm, ConstVector r) {
  constexpr double much = 8;
  if (split_ == nullptr) return;
  const double believed = true_norm(scaled_norm);
  if (!(believed <= options_.target || believed * much <= measured_norm_)) return;
  Array<double> true_r = comm::agree(sum_.comm(), [&] { return Array<double>(r.size()); });
  split_->from_split(r, true_r);
  std::array<double, 2> squares{local_dot(true_r, true_r), local_dot(r, r)};
  sum_(squares);
  if (squares[1] > 0) note_measured(std::sqrt(squares[0]), std::sqrt(squares[1]));
}

void Monitor::note_measured(double scaled_true_norm, double scaled_norm) {
  measured_norm_ = scaled_true_norm * unit_;
  true_share_ = scaled_true_norm / scaled_norm;
}

bool Monitor::meets_target(double scaled_norm, ConstVector r) {
  measure(scaled_norm, r);
  return meets_target(scaled_norm);
}

void Monitor::step(double scaled_norm, int products, std::optional<ConstVector> r) {
  result_.iterations += products;
  if (r) measure(scaled_norm, *r);
  last_factor_ = true_norm(scaled_norm) / result_.residual_norm;
  result_.residual_norm = true_norm(scaled_norm);
  const bool goes_on = !progress_ || progress_(result_.iterations, result_.residual_norm);
  judge(result_.residual_norm);
  if (!goes_on && !stopped_) end(Stop::yielded);
}

void Monitor::correct(double scaled_norm) {
  result_.residual_norm = true_norm(scaled_norm);
  if (stopped_ && result_.stop != Stop::converged) return;
  stopped_ = false;
  judge(result_.residual_norm);
}

bool Monitor::resumes(Vector r, BestIterate& best) {
  constexpr double far_off = 4;  // times the target
  constexpr int most_refuted = 20;
  if (!stopped_ || result_.stop != Stop::converged || !options_.confirm || refuted_ == most_refuted)
    return false;
  if (options_.confirm(r)) return false;
  ++refuted_;
  scale(1 / unit_, r);
  double scaled_norm = norm(sum_, r);
  if (split_ != nullptr) {
    split_->to_split(r);
    const double scaled_true_norm = std::exchange(scaled_norm, norm(sum_, r));
    if (!(scaled_norm > 0)) return false;
    note_measured(scaled_true_norm, scaled_norm);
  }
  if (meets_target(scaled_norm) || !meets_target(scaled_norm / far_off)) return false;
  best.correct(scaled_norm);
  result_.residual_norm = true_norm(scaled_norm);
  last_factor_ = 1;
  stopped_ = false;
  judge(result_.residual_norm);
  return !stopped_;
}

void Monitor::give_more_time() {
  mark_norm_ = result_.residual_norm;
  mark_iteration_ = result_.iterations;
}

void Monitor::end(Stop stop, std::string reason) {
  stopped_ = true;
  result_.stop = stop;
  result_.reason = std::move(reason);
}

void Monitor::judge(double norm) {
  if (!std::isfinite(norm)) {
    breakdown(fmt::format(
        "the residual is not finite after {} iterations: NaN or infinity in the matrix, the right-hand "
        "side or the preconditioner, or overflow",
        result_.iterations));
  } else if (norm <= options_.target) {
    end(Stop::converged);
  } else if (sum_.stop_requested()) {
    end(Stop::interrupted);
  } else if (result_.iterations >= options_.max_iterations) {
    end(Stop::max_iterations);
  } else if (has_stagnated(norm)) {
    stagnated(fmt::format("the residual norm is {:.3g}, and was {:.3g} {} iterations before", norm,
                          mark_norm_, result_.iterations - mark_iteration_));
  }
}

bool Monitor::has_stagnated(double norm) {
  if (norm <= options_.stagnation_factor * mark_norm_) {
    mark_norm_ = norm;
    mark_iteration_ = result_.iterations;
  }
  if (result_.iterations - mark_iteration_ < options_.stagnation_window) return false;
  // The residual of a method that does not minimise it may rise high from a good start before it falls.
  const bool has_risen = options_.stagnation_factor * norm > mark_norm_;
  if (!has_risen || has_borne_a_rise_) return true;
  has_borne_a_rise_ = true;
  give_more_time();
  return false;
}

void BestIterate::before_update(double next_norm) {
  const bool is_best = stored_norm_ < 0 || norm_ < stored_norm_;
  if (is_best && !(next_norm <= norm_)) {
    copy(x_, store_);
    stored_norm_ = norm_;
  }
  norm_ = next_norm;
}

double BestIterate::restore() {
  if (stored_norm_ >= 0 && !(norm_ <= stored_norm_)) {
    copy(store_, x_);
    norm_ = stored_norm_;
  }
  return norm_;
}

bool Monitor::check_finite(double value, const char* what) {
  if (std::isfinite(value)) return true;
  breakdown(
      fmt::format("{} is not finite after {} products: NaN or infinity in the matrix or the preconditioner, "
                  "or overflow",
                  what, iterations()));
  return false;
}

}  // namespace ayatori::solvers
