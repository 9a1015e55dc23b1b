#include "ayatori/collectives/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ayatori/base/json.hpp"
#include "ayatori/collectives/words/plan_json.hpp"

namespace ayatori::collectives {

namespace {

using nlohmann::json;

/// What a table needs of what a search has written.
json without_finalists(const json& search) {
  json kept{{"schema", search.at("schema")},
            {"operation", search.at("operation")},
            {"ranks", search.at("ranks")},
            {"best", json::array()}};
  for (const auto& best : search.at("best")) {
    kept["best"].push_back({{"bytes", best.at("bytes")}, {"plan", best.at("plan")}});
    if (best.contains("blocks")) kept["best"].back()["blocks"] = best["blocks"];
  }
  return kept;
}

bool is_by_memory(const json& blocks) {
  if (blocks != blocks_by(true) && blocks != blocks_by(false))
    throw InputError(fmt::format("blocks by {}", blocks.dump()));
  return blocks == blocks_by(true);
}

json read_file(const std::string& path) {
  const auto content = read_json(path);
  json schedules = json::array();
  for (const auto& search : content.is_array() ? content : json::array({content}))
    schedules.push_back(without_finalists(search));
  [[maybe_unused]] const ScheduleTable valid(schedules);  // or it throws
  return schedules;
}

}  // namespace

ScheduleTable::ScheduleTable(const json& schedules) {
  try {
    for (const auto& search : schedules) {
      if (search.at("schema") != schedules_schema)
        throw InputError("not what `collectives search --json` writes");
      const auto what = operation(search.at("operation").get<std::string>());
      const auto ranks = whole_number<int>(search.at("ranks"), 1);
      auto& list = entries_[{ranks, what}];
      for (const auto& best : search.at("best")) {
        TableEntry& entry =
            list.emplace_back(TableEntry{whole_number<std::int64_t>(best.at("bytes"), 1), std::nullopt});
        if (best.contains("blocks")) entry.blocks_by_memory = is_by_memory(best["blocks"]);
        if (!best.at("plan").is_null()) entry.plan = plan_of(best.at("plan"));
        if (entry.plan && (entry.plan->operation != type_of(what).schedule || entry.plan->ranks != ranks))
          throw InputError(fmt::format("a plan for {} on {} ranks among those for {} on {}",
                                       type_of(entry.plan->operation).name, entry.plan->ranks,
                                       type_of(what).name, ranks));
      }
      std::ranges::stable_sort(list, {}, &TableEntry::bytes);
    }
  } catch (const json::exception& error) {
    throw InputError(words_of(error));
  }
}

bool ScheduleTable::has(int ranks) const {
  const auto first = entries_.lower_bound({ranks, Operation{}});
  return first != entries_.end() && first->first.first == ranks;
}

std::optional<int> ScheduleTable::nearest_ranks(Operation operation, int ranks) const {
  std::optional<int> nearest;
  const auto distance = [&](int other) { return std::abs(std::log(static_cast<double>(other) / ranks)); };
  for (const auto& [key, entries] : entries_) {
    if (key.second == operation && (!nearest || distance(key.first) < distance(*nearest)))
      nearest = key.first;
  }
  return nearest;
}

std::span<const TableEntry> ScheduleTable::entries(Operation operation, int ranks) const {
  const auto found = entries_.find({ranks, operation});
  if (found == entries_.end()) return {};
  return found->second;
}

json read_schedules(const std::string& paths) {
  json schedules = json::array();
  std::size_t begin = 0;
  while (begin <= paths.size()) {
    const std::size_t end = std::min(paths.find(':', begin), paths.size());
    const std::string path = paths.substr(begin, end - begin);
    begin = end + 1;
    if (path.empty()) continue;
    naming(path, [&] {
      for (auto& search : read_file(path)) schedules.push_back(std::move(search));
    });
  }
  return schedules;
}

const TableEntry* nearest(std::span<const TableEntry> entries, std::int64_t bytes) {
  if (entries.empty() || bytes / table_reach > entries.back().bytes) return nullptr;
  const auto above = std::ranges::lower_bound(entries, bytes, {}, &TableEntry::bytes);
  if (above == entries.begin()) return &*above;
  const std::int64_t below = (above - 1)->bytes;
  // bytes / below <= above / bytes, without overflow
  const bool is_below =
      above == entries.end() || static_cast<double>(bytes) / static_cast<double>(below) <=
                                    static_cast<double>(above->bytes) / static_cast<double>(bytes);
  if (!is_below) return &*above;
  return &*std::ranges::lower_bound(entries, below, {}, &TableEntry::bytes);
}

}  // namespace ayatori::collectives
