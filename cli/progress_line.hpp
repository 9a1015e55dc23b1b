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

  /// Of an iteration.
  void show(const std::string& what, std::int64_t iteration, double relative_residual);
  /// A bar: `share` of something is done, and this is being done now.
  void show(const std::string& what, double share);
  /// Removes the line, so that other output starts on a clean one.
  void clear();

 private:
  bool is_due() const;
  void rewrite(const std::string& text);

  bool enabled_;
  bool visible_ = false;
  Stopwatch since_shown_;
  std::int64_t shown_iteration_ = 0;
};

}  // namespace ayatori::cli
