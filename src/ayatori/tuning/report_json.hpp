#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ayatori/tuning/solve.hpp"

namespace ayatori::tuning {

/// The report as the fields of schema "ayatori.solve/1" that a solve knows itself; the caller adds what it
/// knows about input, ranks and reading time. Figures that are not finite become null.
nlohmann::ordered_json to_json(const SolveReport& report);

/// Part of it, and of other files.
nlohmann::ordered_json to_json(const MatrixFacts& facts);

}  // namespace ayatori::tuning
