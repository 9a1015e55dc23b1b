#include "ayatori/tuning/pace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ayatori::tuning {

namespace {

constexpr std::size_t most = 1024;

}  // namespace

Pace::Pace(double start) : points_{{0, start}, {0, start}} {
  points_.reserve(most + 2);
}

/// The last point is always the newest; the one before it is the newest of those that stay.
void Pace::add(double seconds, double norm) {
  const double smallest = std::isfinite(norm) ? std::min(norm, points_.back().norm) : points_.back().norm;
  if (++skipped_ < stride_) {
    points_.back() = {seconds, smallest};
    return;
  }
  skipped_ = 0;
  points_.back() = {seconds, smallest};
  points_.push_back(points_.back());
  if (points_.size() < most) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points_.size(); i += 2) points_[kept++] = points_[i];
  points_[kept++] = points_.back();
  points_.resize(kept);
  stride_ *= 2;
}

double Pace::decay() const {
  const Point& last = points_.back();
  const auto middle =
      std::ranges::lower_bound(points_, last.seconds / 2, {}, [](const Point& p) { return p.seconds; });
  const Point& from = middle == points_.begin() || middle->seconds < last.seconds ? *middle : points_.front();
  const double time = last.seconds - from.seconds;
  if (!(time > 0) || !(last.norm > 0) || !(last.norm < from.norm)) return 0;
  return std::log(from.norm / last.norm) / time;
}

double Pace::remaining(double target) const {
  if (norm() <= target) return 0;
  const double rate = decay();
  return rate > 0 && target > 0 ? std::log(norm() / target) / rate : std::numeric_limits<double>::infinity();
}

}  // namespace ayatori::tuning
