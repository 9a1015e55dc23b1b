#pragma once

#include <algorithm>
#include <cstdint>

namespace ayatori {

/// The half-open interval [begin, end).
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool empty() const { return begin >= end; }
  bool contains(std::int64_t i) const { return begin <= i && i < end; }
  bool operator==(const Range&) const = default;
};

/// Part `part` of [0, n) cut into `parts` contiguous pieces whose sizes differ by at most one; the longer
/// come first.
inline Range split_evenly(std::int64_t n, std::int64_t parts, std::int64_t part) {
  const std::int64_t quotient = n / parts;
  const std::int64_t remainder = n % parts;
  const std::int64_t begin = part * quotient + std::min(part, remainder);
  return {begin, begin + quotient + (part < remainder ? 1 : 0)};
}

}  // namespace ayatori
