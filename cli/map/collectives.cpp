#include "cli/map/collectives.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/base/number_in.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"
#include "cli/collectives/collectives.hpp"

namespace ayatori::cli {

namespace {

using nlohmann::ordered_json;

std::string name_of(const forecast::CollectiveCalls& calls) {
  return fmt::format("{} of {} bytes", collectives::type_of(calls.operation).name, calls.bytes);
}

double parse_count(const std::string& text, const std::string& spec) {
  const auto count = number_in<double>(text);
  if (!count || !(*count > 0) || *count > 1e9)
    throw InputError(fmt::format("--collective {}: '{}' is no number of calls, above 0", spec, text));
  return *count;
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

}  // namespace

std::vector<forecast::CollectiveCalls> parse_collective_calls(std::span<const std::string> specs) {
  std::vector<forecast::CollectiveCalls> calls;
  for (const std::string& spec : specs) {
    const auto colon = spec.find(':');
    if (colon == std::string::npos)
      throw InputError(fmt::format("--collective {}: OPERATION:BYTES or OPERATION:BYTES:CALLS", spec));
    const auto second = spec.find(':', colon + 1);
    calls.push_back(
        {collectives::operation(spec.substr(0, colon)),
         parse_bytes(spec.substr(colon + 1, second == std::string::npos ? second : second - colon - 1)),
         second == std::string::npos ? 1 : parse_count(spec.substr(second + 1), spec)});
  }
  return calls;
}

void explain(std::span<const forecast::CollectiveCalls> calls,
             std::span<const forecast::JointPlacement> joint) {
  fmt::print(stderr, "with the best collectives of each placement, us:\n  {:>10}{:>13}{:>10}\n", "exchange",
             "collectives", "together");
  for (const auto& placement : joint) {
    fmt::print(stderr, "  {:>10.2f}{:>13.2f}{:>10.2f}  {}{}\n", 1e6 * placement.exchange_seconds,
               1e6 * placement.collective_seconds, 1e6 * placement.seconds(), placement.how,
               &placement == joint.data() ? "  <- taken" : "");
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto& best = joint.front().collectives[i].best();
    fmt::print(stderr, "  {} calls of {}: {:.2f} us each, by {}\n", calls[i].calls, name_of(calls[i]),
               1e6 * (best.replayed_seconds > 0 ? best.replayed_seconds : best.seconds), describe(best.plan));
  }
}

ordered_json json_of(std::span<const forecast::CollectiveCalls> calls,
                     std::span<const forecast::JointPlacement> joint) {
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

ordered_json schedules_json(std::span<const forecast::CollectiveCalls> calls,
                            const forecast::JointPlacement& joint, const std::string& network) {
  std::map<collectives::Operation, std::vector<collectives::SizeChoice>> found;
  for (std::size_t i = 0; i < calls.size(); ++i) found[calls[i].operation].push_back(joint.collectives[i]);
  ordered_json tables = ordered_json::array();
  for (const auto& [operation, choices] : found)
    tables.push_back(schedules_json(operation, static_cast<int>(joint.node_of.size()), network, choices));
  return tables;
}

ordered_json messages_json(std::span<const forecast::CollectiveCalls> calls,
                           std::span<const forecast::JointPlacement> joint) {
  ordered_json placements = ordered_json::array();
  for (const auto& placement : joint) {
    ordered_json collectives = ordered_json::array();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const auto schedule = expand(placement.collectives[i].best().plan);
      collectives.push_back(
          {{"calls", calls[i].calls}, {"rounds", json_of(forecast::rounds_of(schedule, calls[i].bytes))}});
    }
    placements.push_back({{"how", placement.how},
                          {"node_of_rank", placement.node_of},
                          {"exchange_seconds", placement.exchange_seconds},
                          {"collective_seconds", placement.collective_seconds},
                          {"collectives", collectives}});
  }
  return placements;
}

}  // namespace ayatori::cli
