#pragma once

#include <vector>

#include "ayatori/collectives/schedules/schedule.hpp"
#include "ayatori/collectives/words/word_plan.hpp"

namespace ayatori::collectives {

int stages_of(const WordPlan& plan);
/// See Schedule.
int chunks_of(const WordPlan& plan);
/// A rank's own steps: costs the square of the number of letters, the number of its messages and of ranks.
std::vector<Step> steps_of(const WordPlan& plan, int rank);

/// All ranks' steps, for checking and drawing.
Schedule expand(const WordPlan& plan);

}  // namespace ayatori::collectives
