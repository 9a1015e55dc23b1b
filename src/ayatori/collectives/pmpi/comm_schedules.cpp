#include "ayatori/collectives/pmpi/comm_schedules.hpp"

#include <algorithm>

#include "ayatori/collectives/pmpi/node_memory.hpp"

namespace ayatori::pmpi {

namespace {

/// Calls by schedules before ranks of a node share memory: for communicators that soon go it is not worth its
/// price.
constexpr int calls_before_memory = 4;

/// No duplicate: that would call the program's functions that copy attributes.
MPI_Comm same_ranks(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  check(PMPI_Comm_group(comm, &group));
  const int code = PMPI_Comm_create(comm, group, &made);
  PMPI_Group_free(&group);
  check(code);
  check(PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN));
  return made;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  return size;
}

}  // namespace

CommSchedules::CommSchedules(MPI_Comm comm, const collectives::ScheduleTable& table)
    : comm_(same_ranks(comm)),
      rank_(rank_in(comm_)),
      size_(size_of(comm_)),
      transport_(comm_),
      cache_(table, rank_, size_) {
  for (const auto& type : collectives::operations()) {
    const auto place = static_cast<std::size_t>(type.operation);
    entries_[place] = table.entries(type.operation, size_);
    sends_blocks_by_memory_[place] =
        std::ranges::any_of(entries_[place], [](const auto& e) { return e.sends_blocks_by_memory(); });
  }
}

CommSchedules::~CommSchedules() {
  transport_.use(nullptr);
  PMPI_Comm_free(&comm_);
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

void CommSchedules::count_call() {
  if (++calls_ != calls_before_memory) return;
  transport_.use(make_node_channel(comm_));
  const comm::NodeChannel* const channel = transport_.node_channel();
  has_memory_of_all_ = channel != nullptr;
  for (int rank = 0; rank < size_ && has_memory_of_all_; ++rank) has_memory_of_all_ = channel->reaches(rank);
}

}  // namespace ayatori::pmpi
