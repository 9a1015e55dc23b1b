#include "ayatori/base/find_named.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ayatori {

namespace {

/// Letters to insert, leave out, replace, or exchange with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> current(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, std::move(current));
  }
  return last.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  std::size_t least = std::max<std::size_t>(word.size() / 3, 1) + 1;
  std::string nearest;
  for (const auto& name : names) {
    const std::size_t steps = distance(word, name);
    if (steps < least) {
      least = steps;
      nearest = name;
    }
  }
  return nearest.empty() ? "" : fmt::format("did you mean {}?", nearest);
}

std::string choose_from(std::string_view word, const std::vector<std::string>& names) {
  const std::string guess = did_you_mean(word, names);
  return fmt::format("{}{}", guess.empty() ? "choose one of " : guess + " There are ",
                     fmt::join(names, ", "));
}

}  // namespace ayatori
