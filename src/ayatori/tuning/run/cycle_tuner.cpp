#include "ayatori/tuning/run/cycle_tuner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/tuning/judgement.hpp"

namespace ayatori::tuning {

CycleTuner::CycleTuner(double target, Limits limits, Say say)
    : target_(target), limits_(limits), say_(std::move(say)) {}

void CycleTuner::plan(solvers::Cycle& cycle, double seconds) {
  plan_orthogonalization(cycle);
  plan_length(cycle, seconds);
}

void CycleTuner::plan_orthogonalization(solvers::Cycle& cycle) const {
  if (limits_.stronger == nullptr || cycle.orthogonalize == limits_.stronger) return;
  if (!(cycle.after > far_more * cycle.estimated)) return;
  say_("loss-of-orthogonality",
       fmt::format("after {} basis vectors the residual norm is {:.2e} where the recurrence has {:.2e}: the "
                   "basis is not orthogonal; from now on every vector is orthogonalized until it is",
                   cycle.length, cycle.after, cycle.estimated));
  cycle.orthogonalize = limits_.stronger;
}

void CycleTuner::plan_length(solvers::Cycle& cycle, double seconds) {
  const int m = cycle.restart;
  if (limits_.longest <= m && before_growth_ == 0) return;
  const double shrinkage = cycle.before / cycle.after;
  const double decay = shrinkage > 1 && seconds > 0 ? std::log(shrinkage) / seconds : 0;
  if (!(decay > 0)) {
    before_growth_ = 0;
    if (m < limits_.longest)
      change_to(cycle, std::min(2 * m, limits_.longest),
                fmt::format("a cycle of {} left {:.1f} % of the residual", m, 100 / shrinkage));
    return;
  }
  if (before_growth_ > 0 && clearly_faster * decay < decay_before_growth_) {
    settled_ = true;
    change_to(cycle, before_growth_,
              fmt::format("{} vectors made the residual shrink by e^{:.3g} a second, {} by e^{:.3g}", m,
                          decay, before_growth_, decay_before_growth_));
    before_growth_ = 0;
    return;
  }
  const double cycles_left = std::log(std::max(cycle.after / target_, 1.0)) / std::log(shrinkage);
  const bool slowed_down = settled_ && far_more * decay < decay_before_growth_;
  if ((settled_ && !slowed_down) || cycles_left < far_more || m >= limits_.longest) return;
  settled_ = false;
  before_growth_ = m;
  decay_before_growth_ = decay;
  change_to(cycle, std::min(2 * m, limits_.longest),
            fmt::format("{:.0f} cycles of {} would be left", cycles_left, m));
}

void CycleTuner::change_to(solvers::Cycle& cycle, int restart, const std::string& why) {
  say_("restart", fmt::format("restart length {} -> {}: {}", cycle.restart, restart, why));
  cycle.restart = restart;
}

}  // namespace ayatori::tuning
