#include "ayatori/session/terminal/progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ayatori::session {

namespace {

/// Share of the digits from a relative residual of 1 to the target that are won.
double share_of_digits(double relative_residual, double target) {
  if (!(relative_residual > 0) || !(target > 0 && target < 1)) return 0;
  return std::log(relative_residual) / std::log(target);
}

}  // namespace

ProgressLine::ProgressLine(Write write, double target)
    : terminal_(find_terminal()), write_(std::move(write)), target_(target) {
  if (!terminal_.is_there) write_ = {};
}

bool ProgressLine::is_due() const {
  constexpr double interval = 0.2;
  return write_ && since_shown_.seconds() >= interval;
}

void ProgressLine::rewrite(double share, int width, std::string text) {
  const auto done = static_cast<int>(std::clamp(share, 0.0, 1.0) * width);
  const auto room =
      std::max(0, terminal_.columns - width - 4);  // a full line would make some terminals begin another one
  text.resize(std::min(text.size(), static_cast<std::size_t>(room)));
  write_(fmt::format("\r\x1b[K[{}{}] {}", paint(terminal_, Style::good, std::string(done, '=')),
                     std::string(width - done, ' '), text));
  visible_ = true;
  since_shown_.restart();
}

void ProgressLine::show(const std::string& what, std::int64_t iteration, double relative_residual) {
  if (!is_due()) return;
  // Where another choice has begun, what was shown last tells nothing of its rate.
  const bool goes_on = what == shown_what_ && iteration >= shown_iteration_;
  const auto rate = goes_on ? fmt::format(", {:.0f}/s", static_cast<double>(iteration - shown_iteration_) /
                                                            since_shown_.seconds())
                            : "";
  shown_what_ = what;
  shown_iteration_ = iteration;
  rewrite(share_of_digits(relative_residual, target_), 16,
          fmt::format("{:.1f} s, residual {:.1e}, iteration {}{}, {}", since_begun_.seconds(),
                      relative_residual, iteration, rate, what));
}

void ProgressLine::show(const std::string& what, double share) {
  if (is_due()) rewrite(share, 30, fmt::format("{:3.0f} % {}", 100 * share, what));
}

void ProgressLine::clear() {
  if (!visible_) return;
  write_("\r\x1b[K");
  visible_ = false;
}

}  // namespace ayatori::session
