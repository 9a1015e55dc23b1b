#include "ayatori/collectives/execution/schedule_cache.hpp"

#include <cmath>

#include "ayatori/collectives/schedules/validate.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"

namespace ayatori::collectives {

namespace {

/// Parts that are kept: programs go through roots and sizes.
constexpr std::size_t most_parts = 64;

WordPlan rooted(const TableEntry& entry, int root) {
  WordPlan plan = *entry.plan;
  plan.root = root;
  return plan;
}

}  // namespace

ScheduleCache::Part* ScheduleCache::find(Operation operation, std::int64_t bytes, int root,
                                         bool keeps_order) {
  const auto entries = table_.entries(operation, size_);
  const TableEntry* entry = nearest(entries, bytes);
  if (entry != nullptr && entry->plan && keeps_order) entry = entry_that_keeps_order(entries, bytes, root);
  if (entry == nullptr || !entry->plan) return nullptr;
  for (Part& part : parts_) {
    if (part.entry == entry && part.root == root) return &part;
  }
  Part part{entry, root, Executor(rooted(*entry, root), rank_)};
  if (parts_.size() < most_parts) return &parts_.emplace_back(std::move(part));
  Part& place = parts_[oldest_];
  oldest_ = (oldest_ + 1) % most_parts;
  place = std::move(part);
  return &place;
}

const TableEntry* ScheduleCache::entry_that_keeps_order(std::span<const TableEntry> entries,
                                                        std::int64_t bytes, int root) {
  const TableEntry* best = nullptr;
  double best_ratio = 0;
  for (const TableEntry& entry : entries) {
    if (!entry.plan) continue;
    const auto [found, is_new] = keeps_order_.try_emplace({&entry, root});
    if (is_new) found->second = reduction_order(expand(rooted(entry, root))).keeps_ranks;
    const double ratio = std::abs(std::log(static_cast<double>(bytes) / static_cast<double>(entry.bytes)));
    if (!found->second || (best != nullptr && ratio >= best_ratio)) continue;
    best = &entry;
    best_ratio = ratio;
  }
  return best;
}

std::byte* ScheduleCache::scratch(std::int64_t bytes) {
  if (std::ssize(scratch_) < bytes) scratch_.resize(bytes);
  return scratch_.data();
}

}  // namespace ayatori::collectives
