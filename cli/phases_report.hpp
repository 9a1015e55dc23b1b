#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "bench/phases.hpp"

namespace ayatori::cli {

/// A line for each phase on stderr: median, smallest and largest seconds.
void print_phases(const char* title, const std::vector<bench::Phase>& phases);

/// {name: {min, median, max}}, in seconds.
nlohmann::ordered_json phases_json(const std::vector<bench::Phase>& phases);

}  // namespace ayatori::cli
