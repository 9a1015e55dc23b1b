#include "bench/collectives/tuned_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "ayatori/base/json.hpp"
#include "ayatori/collectives/words/plan_json.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/shared_memory/node_channel.hpp"
#include "bench/collectives/guidelines.hpp"

namespace ayatori::bench {

namespace {

using collectives::Operation;
using collectives::WordPlan;

/// Shares of the time for races.
constexpr double first_share = 0.5;
constexpr double guidelines_share = 0.15;
constexpr double last_share = 0.25;
constexpr double blocks_share = 0.1;

/// How the messages of a plan may be copied: only an allreduce both combines and moves.
std::vector<WordPlan> with_single_copies(const WordPlan& plan) {
  using collectives::SingleCopy;
  std::vector<WordPlan> plans;
  for (const auto messages : {SingleCopy::moved, SingleCopy::all}) {
    if (messages == SingleCopy::moved && plan.operation != Operation::allreduce) continue;
    plans.push_back(plan);
    plans.back().single_copy = messages;
  }
  return plans;
}

/// Collective. The best few plans of every size by model and replay: rank 0 searches.
std::map<std::int64_t, std::vector<WordPlan>> find_candidates(
    const comm::Comm& comm, const machine::Profile& profile, Operation operation,
    std::span<const std::int64_t> sizes, const TuneOptions& options, bool can_copy_once) {
  auto limits = options.search;
  // Through memory a message travels in pieces as it is, and segments do not go that way.
  if (comm.split_by_node().size() == comm.size()) limits.most_segments = 1;
  const auto text = comm::agree(comm, [&] {
    nlohmann::json found = nlohmann::json::array();
    if (comm.rank() != 0) return std::string();
    for (const auto& choice :
         search(operation, comm.size(), machine::through_memory(profile), sizes, limits)) {
      const auto count = std::min<std::size_t>(choice.finalists.size(), options.raced);
      for (std::size_t i = 0; i < count; ++i) {
        const WordPlan& plan = choice.finalists[i].plan;
        found.push_back({{"bytes", choice.bytes}, {"plan", json_of(plan)}});
        // The model knows nothing of that: the race decides.
        if (!can_copy_once || choice.bytes < comm::NodeChannel::least_single_copy) continue;
        for (const WordPlan& one : with_single_copies(plan))
          found.push_back({{"bytes", choice.bytes}, {"plan", json_of(one)}});
      }
    }
    return found.dump();
  });
  std::map<std::int64_t, std::vector<WordPlan>> plans;
  for (const auto& one : parse_json(comm.broadcast(text, 0)))
    plans[one.at("bytes")].push_back(collectives::plan_of(one.at("plan")));
  return plans;
}

/// What a race has shown: the best plan, unless the one that is known is better.
void note_best(TunedSize& size, const CollectiveRace& race, const RaceTimes& times) {
  for (std::size_t i = 0; i < race.plans.size(); ++i) {
    if (size.plan && times.plans[i].median >= size.ours.median) continue;
    size.plan = race.plans[i];
    size.ours = times.plans[i];
  }
}

/// Collective. A first race of every size.
TunedOperation race_first(const comm::Comm& comm, const machine::Profile& profile, Operation operation,
                          std::span<const std::int64_t> all_sizes, const TuneOptions& options,
                          bool can_copy_once, ForcedComms* forced, double seconds) {
  TunedOperation tuned{operation, {}};
  const auto sizes = sizes_of(operation, all_sizes, comm.size(), sizeof(double));
  if (sizes.empty()) return tuned;
  auto plans = find_candidates(comm, profile, operation, sizes, options, can_copy_once);
  std::vector<CollectiveRace> races;
  for (const auto bytes : sizes)
    races.push_back({operation, bytes, std::move(plans[bytes]), all_algorithms()});
  const auto times = time_collectives(comm, races, {.seconds = seconds}, forced);
  for (std::size_t i = 0; i < races.size(); ++i) {
    TunedSize& size = tuned.sizes.emplace_back();
    size.bytes = races[i].bytes;
    size.mpi = times[i].mpi;
    size.forced = times[i].forced;
    size.left_out = times[i].left_out;
    note_best(size, races[i], times[i]);
  }
  return tuned;
}

/// The size of this length among what is known now; nullptr if there is none.
const TunedSize* find_size(std::span<const TunedOperation> tuned, Operation operation, std::int64_t bytes) {
  const auto of_operation = std::ranges::find(tuned, operation, &TunedOperation::operation);
  if (of_operation == tuned.end()) return nullptr;
  const auto size = std::ranges::find(of_operation->sizes, bytes, &TunedSize::bytes);
  return size == of_operation->sizes.end() ? nullptr : &*size;
}

/// What is the least known, whoever does it.
double best_seconds(const TunedSize& size) {
  return size.plan ? std::min(size.ours.median, size.mpi_seconds()) : size.mpi_seconds();
}

/// Seconds that a guideline allows for this many bytes; none where a part was not tuned.
std::optional<double> allowed_seconds(std::span<const TunedOperation> tuned, const Guideline& guideline,
                                      std::int64_t bytes) {
  double seconds = 0;
  for (const Operation part : guideline.parts) {
    const TunedSize* size = find_size(tuned, part, bytes);
    if (size == nullptr) return std::nullopt;
    seconds += best_seconds(*size);
  }
  return seconds;
}

/// Collective. Where a guideline is violated, schedules that do what its other side does.
void race_composed(const comm::Comm& comm, std::vector<TunedOperation>& tuned, const TuneOptions& options) {
  std::vector<CollectiveRace> races;
  std::vector<TunedSize*> of_races;
  for (TunedOperation& operation : tuned) {
    for (TunedSize& size : operation.sizes) {
      std::vector<WordPlan> plans;
      for (const Guideline& guideline : guidelines()) {
        if (guideline.operation != operation.operation) continue;
        const auto allowed = allowed_seconds(tuned, guideline, size.bytes);
        if (!allowed || *allowed > options.at_most * best_seconds(size)) continue;
        const TunedSize* merge = find_size(tuned, guideline.parts.back(), size.bytes);
        std::ranges::move(composed_plans(guideline, comm.size(), merge->plan ? &*merge->plan : nullptr),
                          std::back_inserter(plans));
      }
      if (plans.empty()) continue;
      races.push_back({operation.operation, size.bytes, std::move(plans)});
      of_races.push_back(&size);
    }
  }
  const auto times = time_collectives(comm, races, {.seconds = guidelines_share * options.seconds});
  for (std::size_t i = 0; i < races.size(); ++i) note_best(*of_races[i], races[i], times[i]);
}

/// Times grow with sizes.
void serve_shorter(TunedOperation& tuned) {
  auto& best = tuned.sizes;
  for (std::size_t i = best.size(); i-- > 1;) {
    if (!best[i].plan || best[i].ours.median >= best[i - 1].ours.median) continue;
    best[i - 1].plan = best[i].plan;
    best[i - 1].ours = best[i].ours;  // at most, until it is confirmed
  }
}

/// By enough, and by more than either varies: a gain within the spread is none.
bool wins(const machine::Estimate& one, const machine::Estimate& other, double at_most) {
  return one.median <= at_most * other.median && one.high < other.low;
}

/// What does not win against what it would replace is not kept.
void drop_losers(TunedSize& size, double at_most) {
  if (size.forced && !wins(size.forced->seconds, size.mpi, at_most)) size.forced.reset();
  if (size.plan && !wins(size.ours, size.forced ? size.forced->seconds : size.mpi, at_most))
    size.plan.reset();
}

/// Collective. Those that have won once more.
void confirm(const comm::Comm& comm, TunedOperation& tuned, const TuneOptions& options, ForcedComms* forced,
             double seconds) {
  std::vector<CollectiveRace> races;
  std::vector<TunedSize*> winners;
  for (TunedSize& size : tuned.sizes) {
    drop_losers(size, options.at_most);
    if (!size.plan && !size.forced) continue;
    CollectiveRace& race = races.emplace_back(CollectiveRace{tuned.operation, size.bytes});
    if (size.plan) race.plans = {*size.plan};
    if (size.forced)
      race.algorithms = [algorithm = size.forced->algorithm](const comm::MpiAlgorithm& one) {
        return one == algorithm;
      };
    winners.push_back(&size);
  }
  const auto times = time_collectives(comm, races, {.seconds = seconds}, forced);
  for (std::size_t i = 0; i < races.size(); ++i) {
    TunedSize& size = *winners[i];
    size.mpi = times[i].mpi;
    if (size.plan) size.ours = times[i].plans.front();
    size.forced = times[i].forced;
    drop_losers(size, options.at_most);
  }
}

/// Collective. Vector calls through memory, with blocks as long as those of the sizes: kept if they win
/// twice.
void race_blocks(const comm::Comm& comm, std::vector<TunedOperation>& tuned, const TuneOptions& options) {
  constexpr int turns = 2;
  for (int turn = 0; turn < turns; ++turn) {
    std::vector<BlockRace> races;
    std::vector<TunedSize*> of_races;
    for (TunedOperation& operation : tuned) {
      if (!has_block_race(operation.operation)) continue;
      for (TunedSize& size : operation.sizes) {
        if (turn > 0 && !size.blocks_by_memory) continue;
        races.push_back({operation.operation, size.bytes / comm.size()});
        of_races.push_back(&size);
      }
    }
    const auto times = time_blocks(comm, races, blocks_share * options.seconds / turns);
    for (std::size_t i = 0; i < times.size(); ++i) {
      of_races[i]->blocks = times[i];
      of_races[i]->blocks_by_memory = wins(times[i].memory, times[i].mpi, options.at_most);
    }
  }
}

/// Says where what is kept takes longer than guidelines allow.
void note_violations(std::vector<TunedOperation>& tuned, double at_most) {
  for (TunedOperation& operation : tuned) {
    auto& sizes = operation.sizes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto note = [&](const std::string& guideline, double allowed) {
        if (allowed <= at_most * sizes[i].seconds())
          sizes[i].violations.push_back({guideline, sizes[i].seconds() / allowed});
      };
      for (const Guideline& guideline : guidelines()) {
        if (guideline.operation != operation.operation) continue;
        if (const auto allowed = allowed_seconds(tuned, guideline, sizes[i].bytes))
          note(guideline.text(), *allowed);
      }
      if (i + 1 < sizes.size())
        note(fmt::format("{0} <= {0} of {1} bytes", collectives::type_of(operation.operation).name,
                         sizes[i + 1].bytes),
             sizes[i + 1].seconds());
    }
  }
}

}  // namespace

bool can_copy_once(const comm::Comm& comm) {
  const auto channel = comm::make_node_channel(comm, comm.split_by_node());
  return comm.any(channel && channel->can_copy_once());
}

std::vector<TunedOperation> tune_collectives(const comm::Comm& comm, const machine::Profile& profile,
                                             std::span<const Operation> operations,
                                             std::span<const std::int64_t> sizes,
                                             const TuneOptions& options) {
  if (comm.size() < 2) throw InputError("one rank has nobody to talk to: start more");
  const double share = options.seconds / static_cast<double>(std::ssize(operations));
  const bool copies_once = can_copy_once(comm);
  std::optional<ForcedComms> forced;
  if (options.rules) forced.emplace(comm);
  ForcedComms* const rivals = forced ? &*forced : nullptr;
  std::vector<TunedOperation> tuned;
  for (const Operation operation : operations) {
    auto of_operation =
        race_first(comm, profile, operation, sizes, options, copies_once, rivals, first_share * share);
    if (!of_operation.sizes.empty()) tuned.push_back(std::move(of_operation));
  }
  race_composed(comm, tuned, options);
  for (TunedOperation& operation : tuned) {
    serve_shorter(operation);
    confirm(comm, operation, options, rivals, last_share * share);
  }
  race_blocks(comm, tuned, options);
  note_violations(tuned, options.at_most);
  return tuned;
}

}  // namespace ayatori::bench
