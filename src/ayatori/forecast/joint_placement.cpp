#include "ayatori/forecast/joint_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "ayatori/base/error.hpp"
#include "ayatori/forecast/placed_machine.hpp"
#include "ayatori/mapping/evaluation.hpp"
#include "ayatori/mapping/objective.hpp"
#include "ayatori/mapping/replay.hpp"

namespace ayatori::forecast {

namespace {

void check(const CollectiveCalls& calls, int ranks) {
  if (collectives::sizes_of(calls.operation, std::array{calls.bytes}, ranks, 1).empty()) {
    throw InputError(
        fmt::format("{} of {} bytes: each of {} ranks has a block of its own, of a byte at least",
                    collectives::type_of(calls.operation).name, calls.bytes, ranks));
  }
}

std::vector<JointPlacement> candidates(const mapping::CommGraph& graph, const mapping::Network& network,
                                       const mapping::CostModel& model, std::span<const int> order) {
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
                   const mapping::Network& network, const mapping::CostModel& model) {
  std::vector<std::optional<double>> replayed;
  for (auto& joint : list) {
    const mapping::Evaluation evaluation(graph, network, model, joint.node_of);
    joint.exchange_seconds = evaluation.metrics().seconds;
    replayed.push_back(mapping::replay_seconds(evaluation));
  }
  if (!std::ranges::all_of(replayed, &std::optional<double>::has_value)) return;
  for (std::size_t i = 0; i < list.size(); ++i) list[i].exchange_seconds = *replayed[i];
}

}  // namespace

std::vector<JointPlacement> place_jointly(const mapping::CommGraph& graph, const mapping::Network& network,
                                          const mapping::CostModel& model, std::span<const int> order,
                                          std::span<const CollectiveCalls> calls,
                                          const collectives::SearchOptions& options) {
  for (const auto& call : calls) check(call, graph.ranks());
  auto list = candidates(graph, network, model, order);
  add_exchanges(list, graph, network, model);
  for (auto& joint : list) {
    const auto machine = placed_machine(network, model, joint.node_of);
    for (const auto& call : calls) {
      auto choice =
          collectives::search(call.operation, graph.ranks(), machine, std::array{call.bytes}, options)
              .front();
      const auto& best = choice.best();
      joint.collective_seconds +=
          call.calls * (best.replayed_seconds > 0 ? best.replayed_seconds : best.seconds);
      joint.collectives.push_back(std::move(choice));
    }
  }
  const double in_order = list.front().seconds();
  const double least = std::ranges::min(list, {}, &JointPlacement::seconds).seconds();
  if (least < (1 - mapping::replay_resolution) * in_order)
    std::ranges::stable_sort(list, {}, &JointPlacement::seconds);
  return list;
}

}  // namespace ayatori::forecast
