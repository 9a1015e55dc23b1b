#include "cli/bench/phases_report.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "cli/bench/bench.hpp"

namespace ayatori::cli {

void print_phases(const char* title, const std::vector<bench::Phase>& phases) {
  fmt::print(stderr, "{:<24} {:>10} {:>10} {:>10}  ms\n", title, "median", "min", "max");
  for (const auto& [name, seconds] : phases)
    fmt::print(stderr, "{:<24} {:>10.3f} {:>10.3f} {:>10.3f}\n", name, 1e3 * seconds.median,
               1e3 * seconds.min, 1e3 * seconds.max);
}

nlohmann::ordered_json phases_json(const std::vector<bench::Phase>& phases) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, seconds] : phases) json[name] = spread_json(seconds);
  return json;
}

std::vector<bench::GridPhase> grid_phases(const std::vector<bench::Phase>& phases,
                                          std::initializer_list<std::string_view> communication) {
  std::vector<bench::GridPhase> parts;
  for (auto phase = phases.begin() + 1; phase != phases.end(); ++phase) {
    const bool communicates = std::ranges::find(communication, phase->name) != communication.end();
    parts.push_back({phase->name, phase->seconds.median, communicates});
  }
  return parts;
}

}  // namespace ayatori::cli
