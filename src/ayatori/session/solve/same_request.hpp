#pragma once

#include "ayatori/comm/comm.hpp"
#include "ayatori/session/solve/solve_request.hpp"

namespace ayatori::session {

/// Collective, in one reduction. Throws InputError on all ranks if they ask for different things: they would
/// wait for each other in calls that do not meet. What is one rank's own may differ.
void check_same(const comm::Comm& comm, const SolveRequest& request);

}  // namespace ayatori::session
