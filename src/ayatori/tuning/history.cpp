#include "ayatori/tuning/history.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ayatori::tuning {

namespace {

/// Kernel and halo strategy change on the way, and the restart length grows: an arm is a method and a
/// preconditioner.
bool same_arm(const Choice& a, const Choice& b) {
  return a.method == b.method && a.preconditioner == b.preconditioner;
}

}  // namespace

History::Arm& History::arm_of(const Choice& choice) {
  if (latest_ < arms_.size() && same_arm(arms_[latest_].choice, choice)) return arms_[latest_];
  const auto found =
      std::ranges::find_if(arms_, [&](const Arm& arm) { return same_arm(arm.choice, choice); });
  latest_ = static_cast<std::size_t>(found - arms_.begin());
  if (found != arms_.end()) return *found;
  arms_.push_back({.choice = choice, .points = {}, .last = {}});
  return arms_.back();
}

void History::add(const Choice& choice, std::int64_t iteration, double relative_residual) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  Arm& arm = arm_of(choice);
  arm.last = {elapsed.count(), iteration, relative_residual};
  if (arm.steps++ % arm.stride == 0) arm.points.push_back(arm.last);
  if (arm.points.size() < most_points) return;
  for (std::size_t i = 1; 2 * i < arm.points.size(); ++i) arm.points[i] = arm.points[2 * i];
  arm.points.resize((arm.points.size() + 1) / 2);
  arm.stride *= 2;
}

nlohmann::ordered_json History::to_json() const {
  auto json = nlohmann::ordered_json::array();
  for (const Arm& arm : arms_) {
    nlohmann::ordered_json series{{"choice", describe(arm.choice)},
                                  {"seconds", nlohmann::ordered_json::array()},
                                  {"iterations", nlohmann::ordered_json::array()},
                                  {"relative_residuals", nlohmann::ordered_json::array()}};
    const auto append = [&](const Point& point) {
      series["seconds"].push_back(point.seconds);
      series["iterations"].push_back(point.iteration);
      series["relative_residuals"].push_back(point.relative_residual);
    };
    for (const Point& point : arm.points) append(point);
    if (arm.points.back().seconds < arm.last.seconds) append(arm.last);
    json.push_back(std::move(series));
  }
  return json;
}

}  // namespace ayatori::tuning
