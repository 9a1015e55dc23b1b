#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ayatori/tuning/policy/choice.hpp"

namespace ayatori::tuning {

/// A choice as results and other files hold it; null where a part does not apply.
nlohmann::ordered_json to_json(const Choice& choice);

/// The inverse. Throws InputError for parts that are missing, or of names that there are none of.
Choice choice_from_json(const nlohmann::ordered_json& json);

}  // namespace ayatori::tuning
