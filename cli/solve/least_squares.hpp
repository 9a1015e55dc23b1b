#pragma once

#include "ayatori/comm/comm.hpp"
#include "cli/solve/arguments.hpp"

namespace ayatori::cli {

/// Collective. `ayatori solve --least-squares`, of arguments that have been checked. The exit status: 0 where
/// what was wanted is proved.
int run_least_squares(const comm::Comm& world, const SolveArguments& arguments);

}  // namespace ayatori::cli
