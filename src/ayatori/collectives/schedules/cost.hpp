#pragma once

#include <vector>

#include "ayatori/collectives/schedules/schedule.hpp"
#include "ayatori/network/load.hpp"

namespace ayatori::collectives {

/// Load of stages one after the other, and of all of them at once, as in the middle of a pipeline.
struct ScheduleLoad {
  std::vector<network::Load> stages;
  network::Load together;
};

/// What every stage of a schedule asks of the machine. Throws InputError where ranks never meet.
ScheduleLoad load_of(const Schedule& schedule, const network::Hierarchy& network);

/// Stage after stage. With segments the first one goes through all stages, and every further one follows as
/// soon as the busiest part of the machine is done with one, and a stage with the one `under_way` before it.
double predict_seconds(const ScheduleLoad& load, const network::Hierarchy& network, double bytes,
                       int segments = 1, int under_way = 1);

/// How many stages of a pipeline have to be under way so that latencies do not show, at most `most`: more
/// would only make the first segments wait for later ones on the links that they share.
int segments_under_way(const ScheduleLoad& load, const network::Hierarchy& network, double segment_bytes,
                       int most);

}  // namespace ayatori::collectives
