#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ayatori/collectives/words/word_plan.hpp"

namespace ayatori::collectives {

/// A plan as JSON, with what describe() says of it.
nlohmann::ordered_json json_of(const WordPlan& plan);

/// What json_of() has made. Throws InputError for a plan that cannot be, and nlohmann::json::exception for
/// what is none.
WordPlan plan_of(const nlohmann::json& json);

}  // namespace ayatori::collectives
