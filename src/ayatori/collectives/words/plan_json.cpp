#include "ayatori/collectives/words/plan_json.hpp"

#include <fmt/format.h>

#include "ayatori/base/json.hpp"

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

namespace {

std::vector<int> whole_numbers(const nlohmann::json& json) {
  std::vector<int> numbers;
  for (const auto& number : json) numbers.push_back(whole_number<int>(number));
  return numbers;
}

}  // namespace

WordPlan plan_of(const nlohmann::json& json) {
  WordPlan plan;
  plan.operation = operation(json.at("operation").get<std::string>());
  plan.ranks = whole_number<int>(json.at("ranks"), 1);
  plan.root = whole_number<int>(json.at("root"), 0);
  plan.word = parse_word(json.at("word").get<std::string>());
  for (const auto& digit : json.at("digits"))
    plan.digits.push_back({whole_number<int>(digit.at("stride")), whole_number<int>(digit.at("radix")),
                           exchange(digit.at("exchange").get<std::string>())});
  plan.segmentation.segments = whole_number<int>(json.at("segments"));
  plan.segmentation.under_way = whole_number<int>(json.at("under_way"));
  if (json.contains("stripes")) plan.stripes = whole_number<int>(json["stripes"]);
  if (json.contains("rails")) plan.rails = whole_number<int>(json["rails"]);
  plan.single_copy = single_copy(json.value("single_copy", "none"));
  if (json.contains("order")) plan.order = whole_numbers(json["order"]);
  if (json.contains("groups")) {
    plan.groups = whole_numbers(json["groups"]);
    plan.fold = exchange(json.at("fold").get<std::string>());
  }
  check_plan(plan);
  return plan;
}

}  // namespace ayatori::collectives
