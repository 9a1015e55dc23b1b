#pragma once

#include <fmt/core.h>

#include <cstdio>

#include "ayatori/session/terminal/progress_line.hpp"

namespace ayatori::cli {

/// A line on stderr that tells how far something is, if this rank may speak. See session::ProgressLine.
inline session::ProgressLine stderr_line(bool speaks, double target = 0) {
  const auto write = [](const std::string& text) {
    fmt::print(stderr, "{}", text);
    std::fflush(stderr);
  };
  return session::ProgressLine(speaks ? session::ProgressLine::Write(write) : nullptr, target);
}

}  // namespace ayatori::cli
