#include "ayatori/forecast/joint_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"
#include "ayatori/forecast/placed_machine.hpp"
#include "ayatori/mapping/objectives/evaluation.hpp"
#include "ayatori/mapping/objectives/objective.hpp"
#include "ayatori/mapping/objectives/replay.hpp"

namespace ayatori::forecast {

namespace {

void check(const CollectiveCalls& calls, int ranks) {
  if (collectives::sizes_of(calls.operation, std::array{calls.bytes}, ranks, 1).empty()) {
    throw InputError(
        fmt::format("{} of {} bytes: each of {} ranks has a block of its own, of a byte at least",
                    collectives::type_of(calls.operation).name, calls.bytes, ranks));
  }
}

std::vector<JointPlacement> candidates(const mapping::CommGraph& graph, const network::Network& network,
                                       const network::CostModel& model, std::span<const int> order) {
  std::vector<JointPlacement> list{{"order of ranks", {order.begin(), order.end()}, 0, {}, 0}};
  for (const auto& objective : mapping::objectives()) {
    auto placement = mapping::place(graph, network, model, order, objective);
    if (std::ranges::find(list, placement.node_of, &JointPlacement::node_of) == list.end()) {
      list.push_back(
          {fmt::format("by {}: {}", objective.name, placement.how), std::move(placement.node_of), 0, {}, 0});
    }
  }
  return list;
}

/// By the same measure for all of them.
void add_exchanges(std::vector<JointPlacement>& list, const mapping::CommGraph& graph,
                   const network::Network& network, const network::CostModel& model) {
  std::vector<std::optional<double>> replayed;
  for (auto& joint : list) {
    const mapping::Evaluation evaluation(graph, network, model, joint.node_of);
    joint.exchange_seconds = evaluation.metrics().seconds;
    replayed.push_back(mapping::replay_seconds(evaluation));
  }
  if (!std::ranges::all_of(replayed, &std::optional<double>::has_value)) return;
  for (std::size_t i = 0; i < list.size(); ++i) list[i].exchange_seconds = *replayed[i];
}

/// Seconds of a call, every round of which waits for the one before it; nothing where the messages are so
/// many that playing them takes longer than some seconds.
std::optional<double> played_seconds(const collectives::Schedule& schedule, std::int64_t bytes,
                                     const network::Network& network, const network::CostModel& model,
                                     std::span<const int> node_of) {
  constexpr std::size_t most_messages = 200'000;
  const auto rounds = rounds_of(schedule, bytes);
  std::size_t messages = 0;
  for (const auto& round : rounds) messages += round.size();
  if (messages > most_messages) return std::nullopt;
  double sum = 0;
  for (const auto& round : rounds) {
    const mapping::CommGraph graph(schedule.ranks, round);
    const auto seconds = mapping::replay_seconds(mapping::Evaluation(graph, network, model, node_of));
    if (!seconds) return std::nullopt;
    sum += *seconds;
  }
  return sum;
}

/// Puts what every finalist takes along the routes in the place of what the search has said, the best first.
/// Nothing is done if one of them cannot be played.
void play_collectives(std::vector<JointPlacement>& list, std::span<const CollectiveCalls> calls,
                      const network::Network& network, const network::CostModel& model) {
  auto played = list;
  for (auto& joint : played) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      auto& finalists = joint.collectives[i].finalists;
      for (auto& finalist : finalists) {
        const auto seconds =
            played_seconds(expand(finalist.plan), calls[i].bytes, network, model, joint.node_of);
        if (!seconds) return;
        finalist.replayed_seconds = *seconds;
      }
      std::ranges::stable_sort(finalists, {}, &collectives::Candidate::replayed_seconds);
    }
  }
  list = std::move(played);
}

}  // namespace

std::vector<std::vector<mapping::PairVolume>> rounds_of(const collectives::Schedule& schedule,
                                                        std::int64_t bytes) {
  const auto& segmentation = schedule.segmentation;
  std::vector<std::vector<mapping::PairVolume>> rounds(schedule.stages + segmentation.segments - 1);
  for (int segment = 0; segment < segmentation.segments; ++segment) {
    const auto begin = segment_begin(segmentation, bytes, segment);
    const auto length = segment_begin(segmentation, bytes, segment + 1) - begin;
    const auto before = [&](int chunk) { return chunk * length / schedule.chunks; };
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      for (const auto& step : schedule.steps[rank]) {
        if (step.kind != collectives::Step::Kind::send) continue;
        std::int64_t sent = 0;
        for (const auto& range : step.chunks) sent += before(range.end) - before(range.begin);
        rounds[step.stage + segment].push_back({rank, step.peer, 1, sent});
      }
    }
  }
  return rounds;
}

std::vector<JointPlacement> place_jointly(const mapping::CommGraph& graph, const network::Network& network,
                                          const network::CostModel& model, std::span<const int> order,
                                          std::span<const CollectiveCalls> calls,
                                          const collectives::SearchOptions& options) {
  for (const auto& call : calls) check(call, graph.ranks());
  auto list = candidates(graph, network, model, order);
  add_exchanges(list, graph, network, model);
  for (auto& joint : list) {
    const auto machine = placed_machine(network, model, joint.node_of);
    for (const auto& call : calls) {
      joint.collectives.push_back(
          collectives::search(call.operation, graph.ranks(), machine, std::array{call.bytes}, options)
              .front());
    }
  }
  play_collectives(list, calls, network, model);
  for (auto& joint : list) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const auto& best = joint.collectives[i].best();
      joint.collective_seconds +=
          calls[i].calls * (best.replayed_seconds > 0 ? best.replayed_seconds : best.seconds);
    }
  }
  const double in_order = list.front().seconds();
  const double least = std::ranges::min(list, {}, &JointPlacement::seconds).seconds();
  if (least < (1 - mapping::replay_resolution) * in_order)
    std::ranges::stable_sort(list, {}, &JointPlacement::seconds);
  return list;
}

}  // namespace ayatori::forecast
