#include "ayatori/machine/model/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ayatori/base/statistics.hpp"

namespace ayatori::machine {

Estimate estimate(std::span<const double> sample) {
  if (sample.empty()) return {};
  std::vector<double> sorted(sample.begin(), sample.end());
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  const double half_width = 1.96 * std::sqrt(n) / 2;  // binomial count of values below the median, 95 %
  const auto low = static_cast<std::size_t>(std::max(std::floor(n / 2 - half_width), 0.0));
  const auto high = static_cast<std::size_t>(std::min(std::ceil(n / 2 + half_width), n - 1));
  return {spread(sample).median, sorted[low], sorted[high], static_cast<int>(sorted.size())};
}

Estimate rate_of(const Estimate& seconds, double amount) {
  if (!(seconds.low > 0)) return {0, 0, 0, seconds.samples};
  return {amount / seconds.median, amount / seconds.high, amount / seconds.low, seconds.samples};
}

}  // namespace ayatori::machine
