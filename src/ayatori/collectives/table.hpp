#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/collectives/words/word_plan.hpp"

namespace ayatori::collectives {

/// Schema of what `ayatori collectives search --json` and `tune` write.
inline constexpr const char* schedules_schema = "ayatori.collective-schedules/1";

/// What `tune` says there of vector calls; see TableEntry.
constexpr const char* blocks_by(bool memory) {
  return memory ? "memory" : "messages";
}

/// Which schedule is best for one size.
struct TableEntry {
  std::int64_t bytes;            ///< length of the buffer: all blocks, where the operation is by rank
  std::optional<WordPlan> plan;  ///< none: the MPI's own operation is
  /// For the vector calls of gather, scatter and alltoall, which libayatori_pmpi.so does inside a node:
  /// whether blocks go through memory when all blocks together are as long. None: that was not raced.
  std::optional<bool> blocks_by_memory = std::nullopt;

  bool sends_blocks_by_memory() const { return blocks_by_memory.value_or(plan.has_value()); }
};

/// The best schedules that searches have found, by operation, number of ranks and size.
class ScheduleTable {
 public:
  ScheduleTable() = default;
  /// `schedules`: an array of what searches have written. Throws InputError for anything else.
  explicit ScheduleTable(const nlohmann::json& schedules);

  /// One more, longer than those that are there.
  void add(Operation operation, int ranks, TableEntry entry) {
    entries_[{ranks, operation}].push_back(std::move(entry));
  }

  bool is_empty() const { return entries_.empty(); }
  bool has(int ranks) const;
  /// For which, as a ratio, the table has this operation; the smaller of two. None if it has it for none.
  std::optional<int> nearest_ranks(Operation operation, int ranks) const;
  /// By ascending size; of one size, in the order of the searches. Empty if there are none.
  std::span<const TableEntry> entries(Operation operation, int ranks) const;

 private:
  std::map<std::pair<int, Operation>, std::vector<TableEntry>> entries_;  ///< by ranks, operation
};

/// Reads files whose names are separated by colons; each holds what one search has written, or an array of
/// such. Of the plans those of the best are kept. Throws InputError that names the file.
nlohmann::json read_schedules(const std::string& paths);

/// A call this many times as long as the longest that was searched for has no schedule. Short ones have.
inline constexpr std::int64_t table_reach = 2;

/// The entry whose size is nearest, as a ratio: the first of the smallest such size. Null if there is none.
const TableEntry* nearest(std::span<const TableEntry> entries, std::int64_t bytes);

}  // namespace ayatori::collectives
