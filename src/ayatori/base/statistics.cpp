#include "ayatori/base/statistics.hpp"

#include <algorithm>
#include <vector>

#include "ayatori/base/error.hpp"

namespace ayatori {

Spread spread(std::span<const double> sample) {
  AYATORI_ASSERT(!sample.empty());
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  const double median = sorted.size() % 2 == 1 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
  return {sorted.front(), median, sorted.back()};
}

}  // namespace ayatori
