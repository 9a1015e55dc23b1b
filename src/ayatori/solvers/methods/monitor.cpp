#include "ayatori/solvers/methods/monitor.hpp"

#include <cmath>
#include <utility>

#include "ayatori/base/error.hpp"

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

Monitor::Monitor(const GlobalSum& sum, const MethodOptions& options, const Progress& progress, double unit)
    : options_(options), progress_(progress), sum_(sum), unit_(unit), mark_norm_(unit) {
  result_.residual_norm = unit;
  judge(unit);
  if (!stopped_ && !can_scale_by(unit)) {
    breakdown(fmt::format("the norm of the residual, {:.3g}, is too small for double precision", unit));
  }
}

void Monitor::step(double scaled_norm, int products) {
  result_.iterations += products;
  last_factor_ = scaled_norm * unit_ / result_.residual_norm;
  result_.residual_norm = scaled_norm * unit_;
  const bool goes_on = !progress_ || progress_(result_.iterations, result_.residual_norm);
  judge(result_.residual_norm);
  if (!goes_on && !stopped_) end(Stop::yielded);
}

void Monitor::correct(double scaled_norm) {
  result_.residual_norm = scaled_norm * unit_;
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
  const double scaled_norm = norm(sum_, r);
  if (meets_target(scaled_norm) || !meets_target(scaled_norm / far_off)) return false;
  best.correct(scaled_norm);
  result_.residual_norm = scaled_norm * unit_;
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
