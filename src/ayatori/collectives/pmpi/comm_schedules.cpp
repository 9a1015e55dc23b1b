#include "ayatori/collectives/pmpi/comm_schedules.hpp"

#include <algorithm>
#include <cmath>

#include "ayatori/collectives/validate.hpp"

namespace ayatori::pmpi {

namespace {

using collectives::Executor;
using collectives::TableEntry;

/// Executors that a communicator keeps: programs go through roots and sizes.
constexpr std::size_t most_parts = 64;

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

collectives::WordPlan rooted(const TableEntry& entry, int root) {
  collectives::WordPlan plan = *entry.plan;
  plan.root = root;
  return plan;
}

}  // namespace

CommSchedules::CommSchedules(MPI_Comm comm, const collectives::ScheduleTable& table)
    : table_(table), comm_(same_ranks(comm)), transport_(comm_) {
  PMPI_Comm_rank(comm_, &rank_);
  PMPI_Comm_size(comm_, &size_);
  parts_.reserve(most_parts);
}

CommSchedules::~CommSchedules() {
  PMPI_Comm_free(&comm_);
}

Executor* CommSchedules::executor(collectives::Operation operation, std::int64_t bytes, int root,
                                  bool keeps_order) {
  const auto entries = table_.entries(operation, size_);
  const TableEntry* entry = nearest(entries, bytes);
  if (entry != nullptr && entry->plan && keeps_order) entry = entry_that_keeps_order(entries, bytes, root);
  if (entry == nullptr || !entry->plan) return nullptr;
  for (Part& part : parts_) {
    if (part.entry == entry && part.root == root) return &part.executor;
  }
  Part part{entry, root, Executor(rooted(*entry, root), rank_)};
  if (parts_.size() < most_parts) return &parts_.emplace_back(std::move(part)).executor;
  Part& place = parts_[oldest_];
  oldest_ = (oldest_ + 1) % most_parts;
  place = std::move(part);
  return &place.executor;
}

const TableEntry* CommSchedules::entry_that_keeps_order(std::span<const TableEntry> entries,
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

std::byte* CommSchedules::scratch(std::int64_t bytes) {
  if (std::ssize(scratch_) < bytes) scratch_.resize(bytes);
  return scratch_.data();
}

}  // namespace ayatori::pmpi
