#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ayatori/collectives/scheduled_collectives.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::session {

struct FoundCollectives {
  std::shared_ptr<const collectives::ScheduledCollectives> scheduled;  ///< nullptr: the MPI does all
  std::string files;                                                   ///< empty without tables
};

/// Collective. What --collectives asks for: files of tables separated by colons, "none", or "auto", which is
/// what AYATORI_COLLECTIVES names where rank 0 runs, or none. Throws InputError, agreed, for tables that are
/// none.
FoundCollectives find_collectives(const comm::Comm& world, const std::string& word);

/// How many collective calls went by schedules.
std::int64_t scheduled_calls(std::span<const collectives::ScheduleUse> uses);

}  // namespace ayatori::session
