#include "cli/collectives/collectives.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/table.hpp"
#include "ayatori/collectives/words/plan_json.hpp"

namespace ayatori::cli {

namespace {

nlohmann::ordered_json json_of(const collectives::Candidate& candidate) {
  return {{"plan", json_of(candidate.plan)},
          {"seconds", candidate.seconds},
          {"replayed_seconds", candidate.replayed_seconds}};
}

}  // namespace

std::int64_t parse_bytes(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string suffix(end, text.data() + text.size());
  int shift = -1;
  if (suffix.empty()) shift = 0;
  if (suffix == "K") shift = 10;
  if (suffix == "M") shift = 20;
  if (suffix == "G") shift = 30;
  if (error != std::errc() || shift < 0 || value < 1 || value > std::int64_t{1} << 40 >> shift)
    throw InputError(fmt::format("'{}' is no size: a number of bytes up to 1024G, with K, M or G", text));
  return value << shift;
}

SizeRange parse_size_range(const std::string& text) {
  const auto colon = text.find(':');
  const std::int64_t first = parse_bytes(text.substr(0, colon));
  const std::int64_t last = colon == std::string::npos ? first : parse_bytes(text.substr(colon + 1));
  if (last < first) throw InputError(fmt::format("--sizes {}: the second is less than the first", text));
  return {first, last};
}

std::vector<std::int64_t> parse_sizes(const std::string& text) {
  const auto [first, last] = parse_size_range(text);
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = first; bytes <= last; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

std::vector<collectives::Operation> operations_of(const std::vector<std::string>& names) {
  std::vector<collectives::Operation> operations;
  for (const auto& name : names) operations.push_back(collectives::operation(name));
  if (names.empty()) {
    for (const auto& type : collectives::operations()) operations.push_back(type.operation);
  }
  return operations;
}

nlohmann::ordered_json schedules_json(collectives::Operation operation, int ranks, const std::string& machine,
                                      std::span<const collectives::SizeChoice> choices) {
  nlohmann::ordered_json json{{"schema", collectives::schedules_schema},
                              {"operation", collectives::type_of(operation).name},
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

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

void add_collectives(Command& app, Run& run) {
  auto* command =
      app.add_subcommand("collectives", "Collective operations as data: words, schedules, search");
  command->require_subcommand(1);
  for (const AddCommand add : {add_collectives_words, add_collectives_show, add_collectives_bench,
                               add_collectives_tune, add_collectives_adapt, add_collectives_search})
    add(*command, run);
}

}  // namespace ayatori::cli
