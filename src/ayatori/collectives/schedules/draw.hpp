#pragma once

#include <string>

#include "ayatori/collectives/schedules/schedule.hpp"

namespace ayatori::collectives {

/// Round by round, who sends what to whom, for a terminal.
std::string draw_text(const Schedule& schedule);

/// The same as a picture: a line for every rank, a column for every stage, an arrow for every message, as
/// wide as the share of the buffer that it carries.
std::string draw_svg(const Schedule& schedule, const std::string& title);

}  // namespace ayatori::collectives
