#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "ayatori/collectives/search/search_json.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"
#include "ayatori/mapping/heat_map.hpp"
#include "ayatori/session/map/map.hpp"

namespace ayatori::session {

namespace {

using nlohmann::ordered_json;

ordered_json json_of(const mapping::Metrics& metrics) {
  return {{"messages", metrics.total.messages},
          {"messages_inside", metrics.inside.messages},
          {"bytes", metrics.total.bytes},
          {"bytes_inside", metrics.inside.bytes},
          {"hop_bytes", metrics.hop_bytes},
          {"mean_hops", metrics.mean_hops},
          {"most_hops", metrics.most_hops},
          {"busiest_rank_seconds", metrics.rank_seconds},
          {"busiest_link_seconds", metrics.link_seconds},
          {"seconds", metrics.seconds}};
}

/// The cells that are not empty.
ordered_json json_of(const mapping::HeatMap& map) {
  ordered_json json{
      {"from", ordered_json::array()}, {"to", ordered_json::array()}, {"bytes", ordered_json::array()}};
  for (std::size_t i = 0; i < map.bytes.size(); ++i) {
    if (map.bytes[i] == 0) continue;
    json["from"].push_back(i / map.cells);
    json["to"].push_back(i % map.cells);
    json["bytes"].push_back(static_cast<std::int64_t>(map.bytes[i]));
  }
  return json;
}

/// For the report: ranks in the order of their nodes, taken together where there are many.
ordered_json communication_json(const MapRun& run) {
  constexpr int most_cells = 256;
  const auto before = mapping::heat_map(run.order, most_cells);
  return {{"cells", before.cells},
          {"order_of_ranks", json_of(before)},
          {"placed", json_of(mapping::heat_map(run.placed, most_cells))}};
}

/// (from, to, bytes) of all messages of every round.
ordered_json json_of(const std::vector<std::vector<mapping::PairVolume>>& rounds) {
  ordered_json list = ordered_json::array();
  for (const auto& round : rounds) {
    ordered_json messages = ordered_json::array();
    for (const auto& message : round) messages.push_back({message.from, message.to, message.bytes});
    list.push_back(std::move(messages));
  }
  return list;
}

ordered_json joint_json(std::span<const forecast::CollectiveCalls> calls,
                        std::span<const forecast::JointPlacement> joint) {
  if (joint.empty()) return nullptr;
  ordered_json asked = ordered_json::array();
  for (const auto& call : calls)
    asked.push_back({{"operation", collectives::type_of(call.operation).name},
                     {"bytes", call.bytes},
                     {"calls", call.calls}});
  ordered_json placements = ordered_json::array();
  for (const auto& placement : joint) {
    ordered_json plans = ordered_json::array();
    for (const auto& choice : placement.collectives) plans.push_back(describe(choice.best().plan));
    placements.push_back({{"how", placement.how},
                          {"exchange_seconds", placement.exchange_seconds},
                          {"collective_seconds", placement.collective_seconds},
                          {"plans", plans}});
  }
  return {{"calls", asked}, {"placements", placements}};
}

ordered_json json_of(const network::CostModel& model) {
  return {{"source", model.source},
          {"inside_latency", model.inside.latency},
          {"inside_bandwidth", model.inside.bandwidth},
          {"between_latency", model.between_latency},
          {"hop_latency", model.hop_latency},
          {"link_bandwidth", model.link_bandwidth},
          {"port_bandwidth", model.port_bandwidth}};
}

}  // namespace

ordered_json to_json(const MapQuestion& question, const MapRun& run) {
  ordered_json attempts = ordered_json::array();
  for (const auto& attempt : run.placement.attempts)
    attempts.push_back({{"how", attempt.how},
                        {"value", attempt.value},
                        {"played_through", attempt.closer ? ordered_json(*attempt.closer) : ordered_json()}});
  ordered_json compared = ordered_json::array();
  for (std::size_t i = 0; i < run.compared.size(); ++i) {
    auto costs = json_of(run.compared[i]);
    costs["file"] = question.request.compare[i];
    compared.push_back(std::move(costs));
  }
  return {{"schema", "ayatori.placement/1"},
          {"ranks", question.graph.ranks()},
          {"ranks_per_node", question.ranks_per_node},
          {"nodes", question.nodes},
          {"network", question.request.network},
          {"objective", question.request.objective},
          {"model", json_of(question.model)},
          {"order_of_ranks", json_of(run.order.metrics())},
          {"dealt_round", json_of(run.round.metrics())},
          {"placed", json_of(run.placed.metrics())},
          {"compared", compared},
          {"how", run.placement.how},
          {"attempts", attempts},
          {"joint", joint_json(question.collectives, run.joint)},
          {"seconds", run.seconds},
          {"node_of_rank", run.placement.node_of},
          {"communication", communication_json(run)}};
}

ordered_json schedules_json(const MapQuestion& question, const MapRun& run) {
  const auto& best = run.joint.front();
  std::map<collectives::Operation, std::vector<collectives::SizeChoice>> found;
  for (std::size_t i = 0; i < question.collectives.size(); ++i)
    found[question.collectives[i].operation].push_back(best.collectives[i]);
  ordered_json tables = ordered_json::array();
  for (const auto& [operation, choices] : found)
    tables.push_back(collectives::schedules_json(operation, static_cast<int>(best.node_of.size()),
                                                 question.request.network, choices));
  return tables;
}

ordered_json messages_json(const MapQuestion& question, const MapRun& run) {
  ordered_json placements = ordered_json::array();
  for (const auto& placement : run.joint) {
    ordered_json collectives = ordered_json::array();
    for (std::size_t i = 0; i < question.collectives.size(); ++i) {
      const auto& calls = question.collectives[i];
      const auto schedule = expand(placement.collectives[i].best().plan);
      collectives.push_back(
          {{"calls", calls.calls}, {"rounds", json_of(forecast::rounds_of(schedule, calls.bytes))}});
    }
    placements.push_back({{"how", placement.how},
                          {"node_of_rank", placement.node_of},
                          {"exchange_seconds", placement.exchange_seconds},
                          {"collective_seconds", placement.collective_seconds},
                          {"collectives", collectives}});
  }
  return placements;
}

}  // namespace ayatori::session
