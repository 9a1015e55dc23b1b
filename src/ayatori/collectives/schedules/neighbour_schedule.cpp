#include "ayatori/collectives/schedules/neighbour_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ayatori/base/error.hpp"

namespace ayatori::collectives {

namespace {

/// What travels of a step: this, and then its chunks.
struct StepHead {
  int stage;
  Step::Kind kind;
  int peer;
  int ranges;
};

}  // namespace

void check_length(std::int64_t elements) {
  if (elements > std::numeric_limits<int>::max())
    throw InputError(fmt::format("a vector of {} elements is too long for a schedule", elements));
}

std::optional<Schedule> gather_schedule(const comm::Comm& comm, std::int64_t elements,
                                        std::span<const Step> steps) {
  std::vector<StepHead> heads;
  Chunks chunks;
  comm::agree(comm, [&] {
    for (const Step& step : steps) {
      heads.push_back({step.stage, step.kind, step.peer, static_cast<int>(step.chunks.size())});
      chunks.insert(chunks.end(), step.chunks.begin(), step.chunks.end());
    }
  });
  const auto all_heads = comm.gatherv(std::span<const StepHead>(heads), 0);
  const auto all_chunks = comm.gatherv(std::span<const ChunkRange>(chunks), 0);
  return comm::agree(comm, [&]() -> std::optional<Schedule> {
    if (comm.rank() != 0) return std::nullopt;
    Schedule schedule;
    schedule.ranks = comm.size();
    schedule.chunks = static_cast<int>(elements);
    auto range = all_chunks.values.begin();
    for (int rank = 0; rank < comm.size(); ++rank) {
      auto& list = schedule.steps.emplace_back();
      for (const auto& [stage, kind, peer, ranges] : all_heads.of(rank)) {
        list.push_back({stage, kind, peer, {range, range + ranges}});
        range += ranges;
        schedule.stages = std::max(schedule.stages, stage + 1);
      }
    }
    return schedule;
  });
}

}  // namespace ayatori::collectives
