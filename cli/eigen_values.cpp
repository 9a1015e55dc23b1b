#include "cli/eigen_values.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ayatori::cli {

namespace {

std::string lines_of(std::span<const double> values, const char* title) {
  constexpr std::size_t in_line = 5;
  std::string text;
  for (std::size_t first = 0; first < values.size(); first += in_line) {
    std::string line = fmt::format("{:<11}", first == 0 ? title : "");
    const auto here = values.subspan(first, std::min(in_line, values.size() - first));
    for (const double value : here) line += fmt::format("{:<18.10g}", value);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string value_lines(std::span<const double> values) {
  constexpr std::size_t at_an_end = 10;
  if (values.size() <= 2 * at_an_end) return lines_of(values, "values");
  return lines_of(values.first(at_an_end), "values") +
         fmt::format("           ... {} more\n", values.size() - 2 * at_an_end) +
         lines_of(values.last(at_an_end), "");
}

}  // namespace ayatori::cli
