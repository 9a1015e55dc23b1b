#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ayatori/base/timing.hpp"
#include "ayatori/session/terminal/terminal.hpp"

namespace ayatori::session {

/// One line for stderr, rewritten a few times a second, where stderr is a terminal; silent elsewhere. It is
/// never longer than the terminal is wide.
class ProgressLine {
 public:
  /// Puts text on stderr at once.
  using Write = std::function<void(const std::string& text)>;

  /// write: empty where this rank may not speak. target: the relative residual at which a solve is done; 0:
  /// nothing is solved.
  explicit ProgressLine(Write write, double target = 0);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Shows an iteration: the choice at work, a bar of the digits that are won, residual, rate, seconds since
  /// the beginning.
  void show(const std::string& what, std::int64_t iteration, double relative_residual);
  /// A bar: `share` of something is done, and this is being done now.
  void show(const std::string& what, double share);
  /// Removes the line, so that other output starts on a clean one.
  void clear();

 private:
  bool is_due() const;
  void rewrite(double share, int width, std::string text);

  Terminal terminal_;
  Write write_;
  double target_;
  bool visible_ = false;
  Stopwatch since_begun_;
  Stopwatch since_shown_;
  std::string shown_what_;
  std::int64_t shown_iteration_ = 0;
};

}  // namespace ayatori::session
