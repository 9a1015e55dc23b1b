#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ayatori/forecast/bound.hpp"

namespace ayatori::session {

/// A line of what every phase took and how many times its limit that is, and one of what bounds the run.
std::string limit_words(const std::vector<forecast::PhaseLimit>& phases);

/// The same as data: {"phases": {name: {"seconds": s, "limit": s}}, "sentence": text}.
nlohmann::ordered_json limit_json(const std::vector<forecast::PhaseLimit>& phases);

}  // namespace ayatori::session
