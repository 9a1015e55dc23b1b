#include "ayatori/collectives/pmpi/comm_schedules.hpp"

#include <algorithm>
#include <utility>

#include "ayatori/collectives/pmpi/messages/node_memory.hpp"

namespace ayatori::pmpi {

namespace {

/// Calls by schedules before ranks of a node share memory: for communicators that soon go it is not worth its
/// price.
constexpr int calls_before_memory = 4;

}  // namespace

CommSchedules::CommSchedules(TagSpace space, const collectives::ScheduleTable& table)
    : rank_(space.rank()), size_(space.size()), transport_(std::move(space)), cache_(table, rank_, size_) {
  for (const auto& type : collectives::operations()) {
    const auto place = static_cast<std::size_t>(type.operation);
    entries_[place] = table.entries(type.operation, size_);
    sends_blocks_by_memory_[place] =
        std::ranges::any_of(entries_[place], [](const auto& e) { return e.sends_blocks_by_memory(); });
  }
}

collectives::Executor* CommSchedules::executor(collectives::Operation operation, std::int64_t bytes, int root,
                                               bool keeps_order) {
  collectives::ScheduleCache::Part* const part = cache_.find(operation, bytes, root, keeps_order);
  if (part == nullptr) return nullptr;
  count_call();
  return &part->executor;
}

comm::NodeChannel* CommSchedules::memory_of_all() {
  count_call();
  return has_memory_of_all_ ? transport_.node_channel() : nullptr;
}

comm::NodeChannel* CommSchedules::memory() {
  if (!has_asked_for_memory_) {
    has_asked_for_memory_ = true;
    transport_.use(make_node_channel(space()));
    const comm::NodeChannel* const channel = transport_.node_channel();
    has_memory_of_all_ = channel != nullptr;
    for (int rank = 0; rank < size_ && has_memory_of_all_; ++rank)
      has_memory_of_all_ = channel->reaches(rank);
  }
  return transport_.node_channel();
}

void CommSchedules::count_call() {
  if (++calls_ == calls_before_memory) memory();
}

}  // namespace ayatori::pmpi
