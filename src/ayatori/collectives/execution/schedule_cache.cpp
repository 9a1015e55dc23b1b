#include "ayatori/collectives/execution/schedule_cache.hpp"

#include <algorithm>
#include <cmath>

#include "ayatori/collectives/schedules/validate.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"

namespace ayatori::collectives {

namespace {

/// Parts that are kept: programs go through roots and sizes.
constexpr std::size_t most_parts = 64;
/// Parts that wait for another call that goes on while others do, with the memory that they work in.
constexpr std::size_t most_idle = 16;

WordPlan rooted(const TableEntry& entry, int root) {
  WordPlan plan = *entry.plan;
  plan.root = root;
  return plan;
}

}  // namespace

const TableEntry* ScheduleCache::entry_for(Operation operation, std::int64_t bytes, int root,
                                           bool keeps_order) {
  const auto entries = table_.entries(operation, size_);
  const TableEntry* entry = nearest(entries, bytes);
  if (entry != nullptr && entry->plan && keeps_order) entry = entry_that_keeps_order(entries, bytes, root);
  return entry != nullptr && entry->plan ? entry : nullptr;
}

ScheduleCache::Part* ScheduleCache::find(Operation operation, std::int64_t bytes, int root,
                                         bool keeps_order) {
  const TableEntry* const entry = entry_for(operation, bytes, root, keeps_order);
  if (entry == nullptr) return nullptr;
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

std::unique_ptr<ScheduleCache::Part> ScheduleCache::take(Operation operation, std::int64_t bytes, int root,
                                                         bool keeps_order) {
  const TableEntry* const entry = entry_for(operation, bytes, root, keeps_order);
  if (entry == nullptr) return nullptr;
  {
    const std::lock_guard lock(idle_mutex_);
    const auto found = std::ranges::find_if(
        idle_, [&](const auto& part) { return part->entry == entry && part->root == root; });
    if (found != idle_.end()) {
      std::swap(*found, idle_.back());
      std::unique_ptr<Part> part = std::move(idle_.back());
      idle_.pop_back();
      return part;
    }
  }
  return std::make_unique<Part>(Part{entry, root, Executor(rooted(*entry, root), rank_)});
}

void ScheduleCache::give_back(std::unique_ptr<Part> part) {
  const std::lock_guard lock(idle_mutex_);
  if (idle_.size() == most_idle) idle_.erase(idle_.begin());
  idle_.push_back(std::move(part));
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
