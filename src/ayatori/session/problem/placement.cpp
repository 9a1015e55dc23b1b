#include "ayatori/session/problem/placement.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"

namespace ayatori::session {

namespace {

/// Those of the profile, if it knows both messages inside nodes and between them.
network::CostModel costs_of(const FoundProfile& machine) {
  if (!machine.profile) return {};
  try {
    return network::cost_model(*machine.profile, machine.description);
  } catch (const InputError&) {
    return {};
  }
}

/// Whether the levels of the profile are between these very nodes.
bool knows_nodes(const FoundProfile& machine, const std::vector<int>& node_of_rank) {
  if (!machine.profile || machine.profile->node_of_rank != node_of_rank) return false;
  try {
    network::measured_network(*machine.profile, machine.description);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 100 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

int moved_parts(const mapping::PartOrder& order) {
  int moved = 0;
  for (std::size_t part = 0; part < order.rank_of_part.size(); ++part)
    moved += order.rank_of_part[part] == static_cast<int>(part) ? 0 : 1;
  return moved;
}

}  // namespace

void check_placement(const std::string& placement, const std::string& network) {
  if (placement == "none" && network != "auto")
    throw InputError(fmt::format("--network {}: it is for --placement auto", network));
  if (network != "auto") network::make_network(network, 1);
}

FoundPlacement find_placement(const comm::Comm& comm, const sparse::SplitMatrix& parts,
                              const FoundProfile& machine, const std::string& placement,
                              const std::string& network, std::int64_t max_iterations) {
  const auto node_of_rank = mapping::node_of_ranks(comm);
  const auto model = costs_of(machine);
  const bool is_measured = network == "auto" && knows_nodes(machine, node_of_rank);
  const std::string spec = network != "auto" ? network : is_measured ? "measured" : "flat";
  const auto make_network = [&](int nodes) {
    return is_measured ? network::measured_network(*machine.profile, machine.description)
                       : network::make_network(spec, nodes);
  };
  std::vector<mapping::PairVolume> sent;
  for (const auto& neighbour : parts.plan.send_to)
    sent.push_back({comm.rank(), neighbour.rank, 1, 8 * (neighbour.end - neighbour.begin)});
  const auto& objective = find_named(mapping::objectives(), "time", "objective");
  auto order = mapping::order_parts(comm, sent, node_of_rank, make_network, model, objective);
  // What sparse::permute() sends: the length of every row, column and value of every nonzero.
  const std::int64_t part_bytes =
      8 * std::int64_t{parts.plan.local_size} + 16 * (parts.interior.nonzeros() + parts.halo.nonzeros());
  const double expected = mapping::expected_exchanges(parts.partition.rows(), max_iterations);
  auto moving = mapping::judge_moving(comm, order, part_bytes, expected, node_of_rank, make_network, model);
  const bool moves = !order.is_kept && (moving.is_worth_it || placement == "always");
  return {std::move(order), std::move(moving), moves, spec, model.source};
}

std::string summary(const FoundPlacement& placement) {
  const auto& order = placement.order;
  const auto& network = placement.network;
  if (order.nodes == 1) return "all ranks are on one node: nothing to place";
  const auto& [before, after] = std::pair(order.before, placement.moves ? order.after : order.before);
  const double messages = percent(after.inside.messages, after.total.messages);
  const double bytes = percent(after.inside.bytes, after.total.bytes);
  if (order.is_kept)
    return fmt::format(
        "{} nodes, {}: nothing is better than the order of ranks, which stays; inside nodes {:.0f} % of the "
        "messages, {:.0f} % of the bytes",
        order.nodes, network, messages, bytes);
  if (!placement.moves)
    return fmt::format(
        "{} nodes, {}: the order of ranks stays; an exchange could take {:.1f} instead of {:.1f} us, but {}; "
        "inside nodes {:.0f} % of the messages, {:.0f} % of the bytes",
        order.nodes, network, 1e6 * order.after.seconds, 1e6 * before.seconds, placement.moving.why, messages,
        bytes);
  return fmt::format(
      "{} nodes, {}: {} of {} parts come to other ranks; inside nodes {:.0f} -> {:.0f} % of the messages, "
      "{:.0f} -> {:.0f} % of the bytes; exchange predicted {:.1f} -> {:.1f} us",
      order.nodes, network, moved_parts(order), order.rank_of_part.size(),
      percent(before.inside.messages, before.total.messages), messages,
      percent(before.inside.bytes, before.total.bytes), bytes, 1e6 * before.seconds, 1e6 * after.seconds);
}

std::string explanation(const FoundPlacement& placement) {
  const auto& order = placement.order;
  return fmt::format("The placement is '{}'; costs of messages: {}; finding it took {:.3f} s.{}\n", order.how,
                     placement.costs, order.seconds,
                     placement.moving.why.empty() ? "" : fmt::format(" Moving: {}.", placement.moving.why));
}

nlohmann::ordered_json to_json(const FoundPlacement& placement) {
  const auto& order = placement.order;
  const auto json_of = [](const mapping::Metrics& metrics) -> nlohmann::ordered_json {
    return {{"messages_inside", metrics.inside.messages},
            {"bytes_inside", metrics.inside.bytes},
            {"hop_bytes", metrics.hop_bytes},
            {"exchange_seconds", metrics.seconds}};
  };
  const auto& moving = placement.moving;
  return {{"nodes", order.nodes},
          {"network", placement.network},
          {"costs", placement.costs},
          {"kept", !placement.moves},
          {"moving",
           {{"seconds", moving.seconds},
            {"pays_after", std::isfinite(moving.pays_after) ? nlohmann::ordered_json(moving.pays_after)
                                                            : nlohmann::ordered_json(nullptr)},
            {"expected", moving.expected},
            {"why", moving.why}}},
          {"how", order.how},
          {"messages", order.before.total.messages},
          {"bytes", order.before.total.bytes},
          {"before", json_of(order.before)},
          {"after", json_of(order.after)},
          {"rank_of_part", order.rank_of_part},
          {"seconds", order.seconds}};
}

}  // namespace ayatori::session
