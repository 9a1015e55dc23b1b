#include "cli/progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace ayatori::cli {

ProgressLine::ProgressLine(bool enabled) : enabled_(enabled && isatty(STDERR_FILENO) != 0) {}

bool ProgressLine::is_due() const {
  constexpr double interval = 0.2;
  return enabled_ && since_shown_.seconds() >= interval;
}

void ProgressLine::rewrite(const std::string& text) {
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
  visible_ = true;
  since_shown_.restart();
}

void ProgressLine::show(const std::string& what, std::int64_t iteration, double relative_residual) {
  if (!is_due()) return;
  const double rate = static_cast<double>(iteration - shown_iteration_) / since_shown_.seconds();
  shown_iteration_ = iteration;
  rewrite(
      fmt::format("{}: iteration {}, residual {:.2e}, {:.0f}/s", what, iteration, relative_residual, rate));
}

void ProgressLine::show(const std::string& what, double share) {
  if (!is_due()) return;
  constexpr int width = 30;
  const auto done = static_cast<int>(std::clamp(share, 0.0, 1.0) * width);
  rewrite(fmt::format("[{:=<{}}{: <{}}] {:3.0f} % {}", "", done, "", width - done, 100 * share, what));
}

void ProgressLine::clear() {
  if (!visible_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  visible_ = false;
}

}  // namespace ayatori::cli
