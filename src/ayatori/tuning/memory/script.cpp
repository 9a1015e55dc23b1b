#include "ayatori/tuning/memory/script.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "ayatori/base/json.hpp"
#include "ayatori/sparse/halo.hpp"
#include "ayatori/tuning/policy/choice_json.hpp"

namespace ayatori::tuning {

namespace {

using Json = nlohmann::ordered_json;

/// By Decision::Kind.
constexpr std::array<std::string_view, 6> kinds{"arm",      "challenge", "behind",
                                                "given-up", "restart",   "product"};

Decision decision_from_json(const Json& json) {
  const auto kind = std::ranges::find(kinds, json.at(0).get<std::string>());
  if (kind == kinds.end()) throw InputError("a decision of an unknown kind");
  return {static_cast<Decision::Kind>(kind - kinds.begin()), whole_number<int>(json.at(1)),
          whole_number<std::int64_t>(json.at(2)), whole_number<std::int64_t>(json.at(3))};
}

Json to_json(const solvers::PreconditionerOptions& options) {
  return {{"blocks", options.blocks},
          {"block_size", options.block_size},
          {"degree", options.degree},
          {"overlap", options.overlap},
          {"fill", options.fill},
          {"drop_tolerance", options.drop_tolerance},
          {"ordering", options.ordering},
          {"triangular", options.triangular},
          {"factor_precision", options.factor_precision},
          {"low_rank", options.low_rank},
          {"complement", options.complement},
          {"reproducible", options.reproducible}};
}

solvers::PreconditionerOptions preconditioner_options_from_json(const Json& json) {
  const auto whole = [&](const char* key) { return whole_number<int>(json.at(key)); };
  return {.blocks = whole("blocks"),
          .block_size = whole("block_size"),
          .degree = whole("degree"),
          .overlap = whole("overlap"),
          .fill = whole("fill"),
          .drop_tolerance = json.at("drop_tolerance"),
          .ordering = json.at("ordering"),
          .triangular = json.at("triangular"),
          .factor_precision = json.value("factor_precision", "double"),
          .low_rank = json.value("low_rank", 0.0),
          .complement = json.value("complement", "auto"),
          .reproducible = json.at("reproducible")};
}

void check(const Script& script) {
  const auto arms = static_cast<std::int64_t>(script.arms.size());
  const auto products = static_cast<std::int64_t>(script.products.size());
  bool makes_sense = (script.ranks == 0 || script.ranks == 1) && products > 0 && script.last_product >= 0 &&
                     script.last_product < products;
  for (const Decision& d : script.decisions) {
    const bool of_arm = d.kind == Decision::Kind::arm || d.kind == Decision::Kind::challenge;
    if (of_arm && (d.value < -1 || d.value >= arms)) makes_sense = false;
    if (d.kind == Decision::Kind::product && (d.value < 0 || d.value >= products)) makes_sense = false;
    if (d.kind == Decision::Kind::restart && d.value < 1) makes_sense = false;
  }
  if (!makes_sense) throw InputError("decisions that do not fit together");
  for (const auto& product : script.products) {
    sparse::kernel(product.kernel);
    sparse::halo_strategy(product.halo);
  }
}

}  // namespace

std::optional<std::int64_t> Decisions::next(Decision::Kind kind, int trial, std::int64_t at) {
  if (place_ == script_.decisions.size()) return std::nullopt;
  const Decision& decision = script_.decisions[place_];
  if (decision.kind != kind || decision.trial != trial || decision.at != at) return std::nullopt;
  ++place_;
  return decision.value;
}

std::optional<std::int64_t> Decisions::next_given_up(int trial, std::optional<std::int64_t>& product) {
  const auto& decisions = script_.decisions;
  for (std::size_t i = place_; i < decisions.size(); ++i) {
    if (decisions[i].kind == Decision::Kind::given_up && decisions[i].trial == trial) {
      place_ = i + 1;
      return decisions[i].at;
    }
    if (decisions[i].kind != Decision::Kind::product) break;
    product = decisions[i].value;
  }
  product.reset();
  return std::nullopt;
}

std::int64_t Decisions::number_of(const sparse::ProductOptions& options) {
  auto& products = script_.products;
  const auto place = std::ranges::find(products, options);
  if (place != products.end()) return place - products.begin();
  products.push_back(options);
  return static_cast<std::int64_t>(products.size()) - 1;
}

Json to_json(const Script& script) {
  Json json{{"ranks", script.ranks},
            {"longest_restart", script.longest_restart},
            {"max_iterations", script.max_iterations},
            {"keeps_orthogonalization", script.keeps_orthogonalization},
            {"preconditioner", to_json(script.preconditioner)},
            {"is_reproducible", script.is_reproducible},
            {"arms", Json::array()},
            {"products", Json::array()},
            {"last_product", script.last_product},
            {"decisions", Json::array()}};
  for (const ListedArm& arm : script.arms)
    json["arms"].push_back(
        {{"choice", to_json(arm.choice)}, {"why", arm.why}, {"last_resort", arm.last_resort}});
  for (const auto& product : script.products) json["products"].push_back({product.kernel, product.halo});
  for (const Decision& d : script.decisions)
    json["decisions"].push_back({kinds[static_cast<std::size_t>(d.kind)], d.trial, d.at, d.value});
  return json;
}

Script script_from_json(const Json& json) {
  try {
    Script script;
    script.ranks = whole_number<int>(json.at("ranks"));
    script.longest_restart = whole_number<int>(json.at("longest_restart"));
    script.max_iterations = whole_number<std::int64_t>(json.at("max_iterations"));
    script.keeps_orthogonalization = json.at("keeps_orthogonalization");
    script.preconditioner = preconditioner_options_from_json(json.at("preconditioner"));
    script.is_reproducible = json.at("is_reproducible");
    script.last_product = whole_number<int>(json.at("last_product"));
    for (const Json& arm : json.at("arms"))
      script.arms.push_back({choice_from_json(arm.at("choice")), printable(arm.at("why").get<std::string>()),
                             arm.at("last_resort")});
    for (const Json& product : json.at("products"))
      script.products.push_back({product.at(0).get<std::string>(), product.at(1).get<std::string>()});
    for (const Json& decision : json.at("decisions"))
      script.decisions.push_back(decision_from_json(decision));
    check(script);
    return script;
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("no recorded decisions: {}", words_of(error)));
  }
}

}  // namespace ayatori::tuning
