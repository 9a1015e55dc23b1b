#include "ayatori/collectives/search/adapt.hpp"

#include <algorithm>

namespace ayatori::collectives {

std::vector<TableEntry> adapt(const ScheduleTable& table, Operation operation, int ranks,
                              const machine::Profile& profile, const SearchOptions& options) {
  const auto nearest = table.nearest_ranks(operation, ranks);
  if (!nearest) return {};
  const auto known = table.entries(operation, *nearest);
  std::vector<TableEntry> entries(known.begin(), known.end());
  if (*nearest == ranks) return entries;
  std::vector<std::int64_t> sizes;
  for (const TableEntry& entry : entries) {
    if (entry.plan && (sizes.empty() || sizes.back() != entry.bytes)) sizes.push_back(entry.bytes);
  }
  if (sizes.empty()) return entries;
  const auto found = search(operation, ranks, profile, sizes, options);
  for (TableEntry& entry : entries) {
    if (entry.plan) entry.plan = std::ranges::find(found, entry.bytes, &SizeChoice::bytes)->best().plan;
  }
  return entries;
}

}  // namespace ayatori::collectives
