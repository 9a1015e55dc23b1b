#include "ayatori/collectives/search/search_json.hpp"

#include <nlohmann/json.hpp>

#include "ayatori/collectives/table.hpp"
#include "ayatori/collectives/words/plan_json.hpp"

namespace ayatori::collectives {

namespace {

nlohmann::ordered_json json_of(const Candidate& candidate) {
  return {{"plan", json_of(candidate.plan)},
          {"seconds", candidate.seconds},
          {"replayed_seconds", candidate.replayed_seconds}};
}

}  // namespace

nlohmann::ordered_json schedules_json(Operation operation, int ranks, const std::string& machine,
                                      std::span<const SizeChoice> choices) {
  nlohmann::ordered_json json{{"schema", schedules_schema},
                              {"operation", type_of(operation).name},
                              {"ranks", ranks},
                              {"profile", machine},
                              {"best", nlohmann::ordered_json::array()}};
  for (const auto& choice : choices) {
    auto best = json_of(choice.best());
    best["bytes"] = choice.bytes;
    best["text"] = describe(choice.best().plan);
    best["binomial_seconds"] = choice.binomial_seconds;
    best["rabenseifner_seconds"] = choice.rabenseifner_seconds;
    best["finalists"] = nlohmann::ordered_json::array();
    for (const auto& candidate : choice.finalists) best["finalists"].push_back(json_of(candidate));
    json["best"].push_back(std::move(best));
  }
  return json;
}

}  // namespace ayatori::collectives
