#include "cli/progress_line.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

namespace ayatori::cli {

ProgressLine::ProgressLine(bool enabled) : enabled_(enabled && isatty(STDERR_FILENO) != 0) {}

void ProgressLine::show(const std::string& what, std::int64_t iteration, double relative_residual) {
  constexpr double interval = 0.2;
  if (!enabled_ || since_shown_.seconds() < interval) return;
  const double rate = static_cast<double>(iteration - shown_iteration_) / since_shown_.seconds();
  fmt::print(stderr, "\r\x1b[K{}: iteration {}, residual {:.2e}, {:.0f}/s", what, iteration,
             relative_residual, rate);
  std::fflush(stderr);
  visible_ = true;
  shown_iteration_ = iteration;
  since_shown_.restart();
}

void ProgressLine::clear() {
  if (!visible_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  visible_ = false;
}

}  // namespace ayatori::cli
