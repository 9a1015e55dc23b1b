#pragma once

#include "ayatori/tuning/solve.hpp"

namespace ayatori::tuning {

/// The obstacle of a finished solve that has not met its tolerance: what was in the way, and what to try.
/// Empty words where it met it, or where the caller stopped it. Not collective.
Obstacle find_obstacle(const SolveReport& report, const SolveOptions& options);

}  // namespace ayatori::tuning
