#pragma once

#include <vector>

#include "ayatori/collectives/search/search.hpp"
#include "ayatori/collectives/table.hpp"

namespace ayatori::collectives {

/// What a table of other numbers of ranks lets expect for this one: where on the nearest number of ranks (as
/// a ratio) the MPI's own is best it stays so for that size, and elsewhere there is the schedule that a
/// search finds best by the profile, unraced. What the table has for this number of ranks is kept. Empty if
/// it knows nothing of the operation. Throws what search() throws.
std::vector<TableEntry> adapt(const ScheduleTable& table, Operation operation, int ranks,
                              const machine::Profile& profile, const SearchOptions& options = {});

}  // namespace ayatori::collectives
