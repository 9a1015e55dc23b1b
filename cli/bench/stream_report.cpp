#include "cli/bench/stream_report.hpp"

#include <fmt/core.h>

#include "cli/bench/bench.hpp"

namespace ayatori::cli {

void print_stream(const bench::StreamResult& result) {
  fmt::print(stderr, "{:<10} {:>10} {:>10} {:>10}   GB/s\n", "stream", "median", "min", "max");
  const auto row = [](const char* name, const Spread& rate) {
    fmt::print(stderr, "{:<10} {:>10.2f} {:>10.2f} {:>10.2f}\n", name, rate.median * 1e-9, rate.min * 1e-9,
               rate.max * 1e-9);
  };
  row("copy", result.copy);
  row("scale", result.scale);
  row("add", result.add);
  row("triad", result.triad);
}

nlohmann::ordered_json stream_json(const bench::StreamResult& result) {
  const auto rate_json = [](const Spread& rate) { return spread_json(rate, 1e9); };
  return {{"copy", rate_json(result.copy)},
          {"scale", rate_json(result.scale)},
          {"add", rate_json(result.add)},
          {"triad", rate_json(result.triad)}};
}

}  // namespace ayatori::cli
