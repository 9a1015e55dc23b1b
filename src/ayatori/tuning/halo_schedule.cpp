#include "ayatori/tuning/halo_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::tuning {

namespace {

using collectives::Chunks;
using collectives::Step;

/// Throws InputError.
void check_length(const sparse::RowPartition& partition) {
  if (partition.rows() > std::numeric_limits<int>::max())
    throw InputError(fmt::format("a vector of {} elements is too long for a schedule", partition.rows()));
}

/// What travels of a step: this, and then its chunks.
struct StepHead {
  int stage;
  Step::Kind kind;
  int peer;
  int ranges;
};

}  // namespace

std::optional<collectives::Schedule> halo_schedule(const comm::Comm& comm,
                                                   const sparse::RowPartition& partition,
                                                   const sparse::HaloExchange& exchange) {
  std::vector<StepHead> heads;
  Chunks chunks;
  const bool tells = comm::agree(comm, [&] {
    check_length(partition);
    const auto messages = exchange.messages();
    if (!messages) return false;
    for (const sparse::HaloMessage& message : *messages) {
      const Chunks of_message = collectives::chunks_of(message.elements);
      heads.push_back({message.stage, message.is_sent ? Step::Kind::send : Step::Kind::receive, message.peer,
                       static_cast<int>(of_message.size())});
      chunks.insert(chunks.end(), of_message.begin(), of_message.end());
    }
    return true;
  });
  if (!tells) return std::nullopt;  // on all ranks
  const auto all_heads = comm.gatherv(std::span<const StepHead>(heads), 0);
  const auto all_chunks = comm.gatherv(std::span<const collectives::ChunkRange>(chunks), 0);
  return comm::agree(comm, [&]() -> std::optional<collectives::Schedule> {
    if (comm.rank() != 0) return std::nullopt;
    collectives::Schedule schedule;
    schedule.ranks = comm.size();
    schedule.chunks = static_cast<int>(partition.rows());
    auto range = all_chunks.values.begin();
    for (int rank = 0; rank < comm.size(); ++rank) {
      auto& steps = schedule.steps.emplace_back();
      for (const auto& [stage, kind, peer, ranges] : all_heads.of(rank)) {
        steps.push_back({stage, kind, peer, {range, range + ranges}});
        range += ranges;
        schedule.stages = std::max(schedule.stages, stage + 1);
      }
    }
    return schedule;
  });
}

std::optional<collectives::Neighbourhood> halo_neighbourhood(const comm::Comm& comm,
                                                             const sparse::RowPartition& partition,
                                                             const sparse::HaloPlan& plan) {
  const Chunks wanted = comm::agree(comm, [&] {
    check_length(partition);
    return collectives::chunks_of(plan.ghosts);
  });
  const auto all = comm.gatherv(std::span<const collectives::ChunkRange>(wanted), 0);
  return comm::agree(comm, [&]() -> std::optional<collectives::Neighbourhood> {
    if (comm.rank() != 0) return std::nullopt;
    collectives::Neighbourhood neighbourhood;
    neighbourhood.starts.assign(partition.starts().begin(), partition.starts().end());
    for (int rank = 0; rank < comm.size(); ++rank) {
      const auto of_rank = all.of(rank);
      neighbourhood.wanted.emplace_back(of_rank.begin(), of_rank.end());
    }
    return neighbourhood;
  });
}

}  // namespace ayatori::tuning
