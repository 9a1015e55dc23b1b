#pragma once

#include <functional>

#include "ayatori/comm/comm.hpp"

namespace ayatori::machine {

/// Collective. What a collective call takes, from its appointed time to the end on the slowest rank: the
/// median of `calls`, of those to which no rank came late; of all if there is none. Window-synchronized, as
/// SKaMPI does it: behind a barrier ranks begin one after the other, and in a row of calls without
/// appointments a root runs ahead. `node`: the number of this rank's node; `roughly`: seconds of a call, for
/// the windows, the same on all ranks.
double time_calls(const comm::Comm& comm, int node, int calls, double roughly,
                  const std::function<void()>& call);

/// Collective. The first call sets things up; the second tells roughly how long one takes, on the slowest
/// rank.
double time_roughly(const comm::Comm& comm, const std::function<void()>& call);

}  // namespace ayatori::machine
