#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "ayatori/collectives/search/search.hpp"

namespace ayatori::collectives {

/// What a search has found, as ScheduleTable reads it. `machine`: what its profile is called.
nlohmann::ordered_json schedules_json(Operation operation, int ranks, const std::string& machine,
                                      std::span<const SizeChoice> choices);

}  // namespace ayatori::collectives
