#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "bench/papers/grid.hpp"
#include "bench/papers/phases.hpp"

namespace ayatori::cli {

/// A line for each phase on stderr: median, smallest and largest seconds.
void print_phases(const char* title, const std::vector<bench::Phase>& phases);

/// {name: {min, median, max}}, in seconds.
nlohmann::ordered_json phases_json(const std::vector<bench::Phase>& phases);

/// The medians of the phases behind the first, which is the total; communication is those of these names.
std::vector<bench::GridPhase> grid_phases(const std::vector<bench::Phase>& phases,
                                          std::initializer_list<std::string_view> communication);

}  // namespace ayatori::cli
