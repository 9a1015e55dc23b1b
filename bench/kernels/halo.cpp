#include "bench/kernels/halo.hpp"

#include <fmt/format.h>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/schedules/cost.hpp"
#include "ayatori/collectives/schedules/neighbour_schedule.hpp"
#include "ayatori/collectives/schedules/replay.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/probes/call_time.hpp"
#include "ayatori/machine/topology.hpp"

namespace ayatori::bench {

namespace {

HaloForecast forecast_of(const collectives::Schedule& schedule, const machine::Profile& profile) {
  constexpr int bytes_each = 8;
  const double bytes = static_cast<double>(bytes_each) * schedule.chunks;
  const network::Hierarchy network(profile, schedule.ranks);
  HaloForecast forecast{collectives::predict_seconds(collectives::load_of(schedule, network), network, bytes),
                        collectives::Replay(schedule, network).seconds(bytes),
                        {}};
  forecast.levels.resize(network.levels());
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (const auto& step : schedule.steps[rank]) {
      if (step.kind != collectives::Step::Kind::send) continue;
      auto& level = forecast.levels[network.level_of(rank, step.peer)];
      ++level.messages;
      level.bytes += std::int64_t{bytes_each} * collectives::chunk_count(step.chunks);
    }
  }
  return forecast;
}

/// Collective. Throws InternalError, agreed.
void check(const comm::Comm& comm, const sparse::HaloPlan& plan, std::span<const double> ghosts,
           std::string_view strategy) {
  comm::agree(comm, [&] {
    for (std::size_t g = 0; g < ghosts.size(); ++g) {
      if (ghosts[g] != static_cast<double>(plan.ghosts[g]))
        throw InternalError(
            fmt::format("halo {} is wrong: {} came for element {}", strategy, ghosts[g], plan.ghosts[g]));
    }
  });
}

}  // namespace

std::vector<HaloTiming> time_halos(const comm::Comm& comm, const sparse::SplitMatrix& parts,
                                   const std::vector<std::string>& strategies, int calls,
                                   const machine::Profile* profile, std::vector<std::string>* left_out) {
  const std::int64_t first = parts.partition.range(comm.rank()).begin;
  Array<double> x(parts.plan.local_size);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(first + static_cast<std::int64_t>(i));
  const int node = machine::find_nodes_of_ranks(comm)[comm.rank()];
  std::vector<HaloTiming> timings;
  for (const std::string& name : strategies) {
    std::unique_ptr<sparse::HaloExchange> exchange;
    try {
      exchange = sparse::halo_strategy(name).type->make(comm, parts.partition, parts.plan);
    } catch (const EnvironmentError& error) {
      if (!error.agreed() || left_out == nullptr) throw;
      left_out->push_back(fmt::format("halo {}: {}", name, error.what()));
      continue;
    }
    exchange->begin(x);
    check(comm, parts.plan, exchange->finish(), name);
    const auto call = [&] {
      exchange->begin(x);
      exchange->finish();
    };
    HaloTiming& timing = timings.emplace_back(HaloTiming{name, 0, {}});
    timing.seconds = machine::time_calls(comm, node, calls, machine::time_roughly(comm, call), call);
    if (profile == nullptr) continue;
    const auto schedule =
        collectives::neighbour_schedule(comm, parts.partition.rows(), [&] { return exchange->messages(); });
    timing.forecast = comm::agree(comm, [&]() -> std::optional<HaloForecast> {
      if (!schedule) return std::nullopt;
      return forecast_of(*schedule, *profile);
    });
  }
  return timings;
}

const HaloTiming* choose_by_forecast(std::span<const HaloTiming> timings) {
  const HaloTiming* choice = nullptr;
  for (const HaloTiming& timing : timings) {
    if (!timing.forecast) continue;
    if (choice == nullptr || timing.forecast->replay_seconds < choice->forecast->replay_seconds)
      choice = &timing;
  }
  return choice;
}

}  // namespace ayatori::bench
