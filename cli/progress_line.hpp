#pragma once

#include <cstdint>
#include <string>

#include "ayatori/base/timing.hpp"

namespace ayatori::cli {

/// One line on stderr, rewritten a few times a second, where stderr is a terminal; silent elsewhere.
class ProgressLine {
 public:
  /// enabled: whether this rank may speak.
  explicit ProgressLine(bool enabled);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& what, std::int64_t iteration, double relative_residual);
  /// Removes the line, so that other output starts on a clean one.
  void clear();

 private:
  bool enabled_;
  bool visible_ = false;
  Stopwatch since_shown_;
  std::int64_t shown_iteration_ = 0;
};

}  // namespace ayatori::cli
