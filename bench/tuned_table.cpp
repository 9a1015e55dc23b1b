#include "bench/tuned_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/plan_json.hpp"
#include "ayatori/comm/agree.hpp"
#include "bench/collectives.hpp"

namespace ayatori::bench {

namespace {

using collectives::Operation;
using collectives::WordPlan;

/// Collective. The best few plans of every size by model and replay: rank 0 searches.
std::vector<CollectiveCase> find_candidates(const comm::Comm& comm, const machine::Profile& profile,
                                            Operation operation, std::span<const std::int64_t> sizes,
                                            const TuneOptions& options) {
  const auto text = comm::agree(comm, [&] {
    nlohmann::json found = nlohmann::json::array();
    if (comm.rank() != 0) return std::string();
    for (const auto& choice : search(operation, comm.size(), profile, sizes, options.search)) {
      const auto count = std::min<std::size_t>(choice.finalists.size(), options.raced);
      for (std::size_t i = 0; i < count; ++i)
        found.push_back({{"bytes", choice.bytes}, {"plan", json_of(choice.finalists[i].plan)}});
    }
    return found.dump();
  });
  std::vector<CollectiveCase> cases;
  for (const auto& one : nlohmann::json::parse(comm.broadcast(text, 0)))
    cases.push_back({one.at("bytes"), collectives::plan_of(one.at("plan"))});
  return cases;
}

/// Of every size the least of the MPI's times, which was timed beside each schedule, and of ours.
std::vector<TunedSize> best_of(std::span<const std::int64_t> sizes, std::span<const CollectiveCase> cases,
                               std::span<const CollectiveTiming> timings) {
  std::vector<TunedSize> best;
  for (const auto bytes : sizes) {
    TunedSize& of_size = best.emplace_back();
    of_size.bytes = bytes;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (cases[i].bytes != bytes) continue;
      const auto& [mpi, ours] = timings[i];
      if (!of_size.plan || mpi.median < of_size.mpi.median) of_size.mpi = mpi;
      if (of_size.plan && ours.median >= of_size.ours.median) continue;
      of_size.plan = cases[i].plan;
      of_size.ours = ours;
    }
  }
  return best;
}

bool wins(const TunedSize& size, double at_most) {
  return size.ours.median <= at_most * size.mpi.median;
}

}  // namespace

std::vector<TunedOperation> tune_collectives(const comm::Comm& comm, const machine::Profile& profile,
                                             std::span<const Operation> operations,
                                             std::span<const std::int64_t> all_sizes,
                                             const TuneOptions& options) {
  if (comm.size() < 2) throw InputError("one rank has nobody to talk to: start more");
  const double share = options.seconds / static_cast<double>(2 * std::ssize(operations));
  std::vector<TunedOperation> tuned;
  for (const Operation operation : operations) {
    // A block is a double at least.
    std::vector<std::int64_t> sizes;
    std::ranges::copy_if(all_sizes, std::back_inserter(sizes), [&](std::int64_t bytes) {
      return !collectives::type_of(operation).is_by_rank || bytes >= 8 * std::int64_t{comm.size()};
    });
    if (sizes.empty()) continue;
    const auto cases = find_candidates(comm, profile, operation, sizes, options);
    auto best = best_of(sizes, cases, time_collectives(comm, cases, {.seconds = share}));
    for (std::size_t i = best.size(); i-- > 1;) {
      if (best[i].ours.median >= best[i - 1].ours.median) continue;
      best[i - 1].plan = best[i].plan;
      best[i - 1].ours = best[i].ours;  // at most, until it is confirmed
    }
    std::vector<CollectiveCase> winners;
    std::vector<TunedSize*> of_winners;
    for (TunedSize& size : best) {
      if (wins(size, options.at_most)) {
        winners.push_back({size.bytes, *size.plan});
        of_winners.push_back(&size);
      } else {
        size.plan.reset();
      }
    }
    const auto confirmed = time_collectives(comm, winners, {.seconds = share});
    for (std::size_t i = 0; i < winners.size(); ++i) {
      of_winners[i]->mpi = confirmed[i].mpi;
      of_winners[i]->ours = confirmed[i].ours;
      if (!wins(*of_winners[i], options.at_most)) of_winners[i]->plan.reset();
    }
    tuned.push_back({operation, std::move(best)});
  }
  return tuned;
}

}  // namespace ayatori::bench
