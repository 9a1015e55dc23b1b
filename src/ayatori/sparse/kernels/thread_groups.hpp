#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/range.hpp"

namespace ayatori::sparse {

/// Rows, slices or rows of blocks cut into one contiguous group per thread, of nearly equal work. Every
/// thread fills and later multiplies its own group, so that the memory it first touched is near it.
class ThreadGroups {
 public:
  ThreadGroups() = default;

  /// Unit i works on [start[i], start[i + 1]) of `start.back()` elements.
  explicit ThreadGroups(std::span<const std::int64_t> start) {
    const auto units = static_cast<std::int64_t>(start.size()) - 1;
    const int groups = threads_for(start.back());
    std::int64_t begin = 0;
    for (int g = 0; g < groups; ++g) {
      const std::int64_t target = split_evenly(start.back(), groups, g).end;
      const auto position = std::lower_bound(start.begin() + begin, start.end() - 1, target);
      const std::int64_t end = g + 1 == groups ? units : position - start.begin();
      groups_.push_back({begin, end});
      begin = end;
    }
  }

  int size() const { return static_cast<int>(groups_.size()); }
  Range operator[](int group) const { return groups_[group]; }

  /// Calls f(group, its units) on the thread of every group. It must not throw.
  template <class F>
  void for_each(F&& f) const {
    if (size() == 1) {
      f(0, groups_[0]);
      return;
    }
#pragma omp parallel for schedule(static, 1) num_threads(size())
    for (int g = 0; g < size(); ++g) f(g, groups_[g]);
  }

 private:
  std::vector<Range> groups_;
};

/// 0, and the sums of counts[0..i]: where each unit begins, and their end.
inline std::vector<std::int64_t> starts_of(std::span<const std::int64_t> counts) {
  std::vector<std::int64_t> start(counts.size() + 1, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) start[i + 1] = start[i] + counts[i];
  return start;
}

}  // namespace ayatori::sparse
