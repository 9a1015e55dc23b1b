#include "ayatori/collectives/plan_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"

namespace ayatori::collectives {

nlohmann::ordered_json json_of(const WordPlan& plan) {
  nlohmann::ordered_json digits = nlohmann::ordered_json::array();
  for (const Digit& digit : plan.digits)
    digits.push_back(
        {{"stride", digit.stride}, {"radix", digit.radix}, {"exchange", name_of(digit.exchange)}});
  nlohmann::ordered_json json{{"text", describe(plan)},
                              {"operation", type_of(plan.operation).name},
                              {"ranks", plan.ranks},
                              {"root", plan.root},
                              {"word", to_string(plan.word)},
                              {"digits", digits},
                              {"segments", plan.segmentation.segments},
                              {"under_way", plan.segmentation.under_way}};
  if (plan.stripes > 1) json["stripes"] = plan.stripes;
  if (plan.rails > 1) json["rails"] = plan.rails;
  if (plan.single_copy != SingleCopy::none) json["single_copy"] = name_of(plan.single_copy);
  if (!plan.order.empty()) json["order"] = plan.order;
  if (!plan.groups.empty()) {
    json["groups"] = plan.groups;
    json["fold"] = name_of(plan.fold);
  }
  return json;
}

WordPlan plan_of(const nlohmann::json& json) {
  WordPlan plan;
  plan.operation = operation(json.at("operation").get<std::string>());
  plan.ranks = json.at("ranks");
  plan.root = json.at("root");
  plan.word = parse_word(json.at("word").get<std::string>());
  for (const auto& digit : json.at("digits"))
    plan.digits.push_back(
        {digit.at("stride"), digit.at("radix"), exchange(digit.at("exchange").get<std::string>())});
  plan.segmentation.segments = json.at("segments");
  plan.segmentation.under_way = json.at("under_way");
  plan.stripes = json.value("stripes", 1);
  plan.rails = json.value("rails", 1);
  plan.single_copy = single_copy(json.value("single_copy", "none"));
  if (json.contains("order")) plan.order = json["order"].get<std::vector<int>>();
  if (json.contains("groups")) {
    plan.groups = json["groups"].get<std::vector<int>>();
    plan.fold = exchange(json.at("fold").get<std::string>());
  }
  check_plan(plan);
  return plan;
}

}  // namespace ayatori::collectives
