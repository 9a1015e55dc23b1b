#include <fmt/format.h>

#include <optional>
#include <vector>

#include "ayatori/forecast/job_machine.hpp"
#include "bench/papers/grid.hpp"

namespace ayatori::bench {

namespace {

/// Seconds of an exchange in which every rank sends every other one the same.
double exchange_seconds(const machine::Profile& profile, const forecast::JobShape& shape, double bytes) {
  const int ranks = shape.ranks();
  const auto block = static_cast<std::int64_t>(bytes / ranks / ranks);
  std::vector<mapping::PairVolume> messages;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (from != to) messages.push_back({from, to, 1, block});
    }
  }
  constexpr double any = 1;  // amount of memory; messages do not ask for it
  return forecast::JobMachine(profile, "profile", shape, any).exchange(messages).total();
}

}  // namespace

std::vector<AllToAll> forecast_all_to_all(const machine::Profile& profile, int cores, double bytes) {
  constexpr int most_nodes = 64;
  std::vector<AllToAll> found;
  for (int nodes = 2; nodes <= most_nodes; nodes *= 2)
    found.push_back({nodes, exchange_seconds(profile, {nodes, cores, 1}, bytes),
                     exchange_seconds(profile, {nodes, 1, cores}, bytes)});
  return found;
}

Finding all_to_all_finding(std::span<const AllToAll> forecasts, int cores, double bytes) {
  const AllToAll& few = forecasts.front();
  const AllToAll& many = forecasts.back();
  return {
      "all-to-all", many.gain() > same_within && many.gain() >= few.gain(),
      fmt::format("forecast of {:.3g} MB from all to all: on {} nodes hybrid (a rank of {} threads each) is "
                  "{:.2f} times as fast as all-MPI ({} ranks each), on {} nodes {:.2f} times",
                  1e-6 * bytes, few.nodes, cores, few.gain(), cores, many.nodes, many.gain())};
}

}  // namespace ayatori::bench
