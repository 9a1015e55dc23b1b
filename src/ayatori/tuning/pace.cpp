#include "ayatori/tuning/pace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ayatori::tuning {

namespace {

constexpr std::size_t most = 1024;

}  // namespace

void Pace::add(double seconds, double norm) {
  seconds_ = seconds;
  if (!std::isfinite(norm)) return;
  smallest_ = std::min(smallest_, norm);
  if (++skipped_ < stride_) return;
  skipped_ = 0;
  points_.push_back({seconds, norm});
  if (points_.size() < most) return;
  std::size_t kept = 0;
  for (std::size_t i = 1; i < points_.size(); i += 2) points_[kept++] = points_[i];
  points_.resize(kept);
  stride_ *= 2;
}

/// The lower quartile of the norms of a tenth of all points around one of them, and the mean of their times.
Pace::Point Pace::around(std::size_t middle) const {
  const std::size_t width = std::max<std::size_t>(points_.size() / 10, 1);
  const std::size_t begin = std::min(middle - std::min(middle, width / 2), points_.size() - width);
  std::vector<double> norms;
  double seconds = 0;
  for (std::size_t i = begin; i < begin + width; ++i) {
    norms.push_back(points_[i].norm);
    seconds += points_[i].seconds;
  }
  std::ranges::nth_element(norms, norms.begin() + width / 4);
  return {seconds / static_cast<double>(width), norms[width / 4]};
}

Pace::Slope Pace::slope() const {
  const auto half = std::ranges::lower_bound(points_, points_.back().seconds / 2, {}, &Point::seconds);
  const Point from = around(half - points_.begin());
  const Point to = around(points_.size() - 1);
  const double time = to.seconds - from.seconds;
  if (!(time > 0) || !(to.norm > 0) || !(to.norm < from.norm)) return {to, 0};
  return {to, std::log(from.norm / to.norm) / time};
}

double Pace::remaining(double target) const {
  if (smallest_ <= target) return 0;
  const auto [newest, rate] = slope();
  if (!(rate > 0) || !(target > 0)) return std::numeric_limits<double>::infinity();
  return std::max(newest.seconds + std::log(newest.norm / target) / rate - seconds_, 0.0);
}

double Pace::mean_remaining(double target) const {
  const double done = std::log(start_ / smallest_);
  if (!(done > 0)) return std::numeric_limits<double>::infinity();
  return seconds_ * std::max(std::log(smallest_ / target), 0.0) / done;
}

}  // namespace ayatori::tuning
