#include <algorithm>
#include <charconv>
#include <chrono>

#include "ayatori/base/json.hpp"
#include "ayatori/sparse/halo.hpp"
#include "ayatori/sparse/kernel.hpp"
#include "ayatori/tuning/memory/lesson.hpp"
#include "ayatori/tuning/policy/choice_json.hpp"
#include "ayatori/tuning/report_json.hpp"

namespace ayatori::tuning {

namespace {

using Json = nlohmann::ordered_json;

// A folder of lessons may be shared: what no solve can have written is refused, before anybody goes by it.
constexpr std::int64_t most_count = std::int64_t{1} << 53;
constexpr std::size_t longest_list = 1000;
constexpr double least_seconds = 1e-9;
constexpr double most_seconds = 1e10;  // three centuries

std::int64_t count_of(const Json& object, const char* key, std::int64_t least = 0,
                      std::int64_t most = most_count) {
  return naming(key, [&] { return whole_number<std::int64_t>(object.at(key), least, most); });
}

double number_of(const Json& object, const char* key, double least, double most) {
  return naming(key, [&] { return number_between(object.at(key), least, most); });
}

/// Words that will be printed.
std::string text_of(const Json& json) {
  return printable(json.get_ref<const std::string&>());
}

const Json& list_of(const Json& json) {
  if (!json.is_array() || json.size() > longest_list)
    throw InputError(fmt::format("no list of at most {} elements", longest_list));
  return json;
}

std::string digits(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

std::uint64_t from_digits(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.size() != 16)
    throw InputError(fmt::format("'{}' is no fingerprint", printable(text)));
  return value;
}

Json failures_json(const std::vector<Experience::Failure>& failures) {
  Json json = Json::array();
  for (const auto& failure : failures)
    json.push_back({{"choice", to_json(failure.choice)}, {"why", failure.why}});
  return json;
}

std::vector<Experience::Failure> failures_from_json(const Json& json) {
  std::vector<Experience::Failure> failures;
  for (const Json& failure : list_of(json))
    failures.push_back({choice_from_json(failure.at("choice")), text_of(failure.at("why"))});
  return failures;
}

Json best_json(const std::optional<Choice>& best) {
  return best ? to_json(*best) : Json(nullptr);
}

std::optional<Choice> best_from_json(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(choice_from_json(json));
}

/// Names of kernels and halo strategies.
std::vector<std::string> losers_from_json(const Json& json) {
  std::vector<std::string> names;
  for (const Json& name : list_of(json)) {
    const std::string text = text_of(name);
    if (std::ranges::find(sparse::kernels(), text, &sparse::KernelType::name) == sparse::kernels().end())
      sparse::halo_strategy(text);
    names.push_back(text);
  }
  return names;
}

MatrixFacts facts_from_json(const Json& json) {
  constexpr double largest_difference = 2;  // difference of two entries, relative to the largest
  MatrixFacts facts;
  facts.rows = count_of(json, "rows", 1);
  facts.nonzeros = count_of(json, "nonzeros");
  facts.symmetric = json.at("symmetric");
  facts.pattern_symmetric = json.at("pattern_symmetric");
  facts.asymmetry = number_of(json, "asymmetry", 0, largest_difference);
  facts.min_row_nonzeros = count_of(json, "min_row_nonzeros", 0, facts.nonzeros);
  facts.max_row_nonzeros = count_of(json, "max_row_nonzeros", facts.min_row_nonzeros, facts.nonzeros);
  facts.positive_diagonals = count_of(json, "positive_diagonals", 0, facts.rows);
  facts.negative_diagonals = count_of(json, "negative_diagonals", 0, facts.rows - facts.positive_diagonals);
  facts.zero_diagonals =
      count_of(json, "zero_diagonals", 0, facts.rows - facts.positive_diagonals - facts.negative_diagonals);
  facts.dominant_rows = number_of(json, "dominant_rows", 0, 1);
  facts.diffusive_rows =
      json.contains("diffusive_rows") ? number_of(json, "diffusive_rows", 0, 1) : facts.dominant_rows;
  return facts;
}

Situation situation_from_json(const Json& json) {
  constexpr int most_ranks = 1 << 24;
  constexpr int most_threads = 1 << 16;
  Situation situation{text_of(json.at("machine")), static_cast<int>(count_of(json, "ranks", 1, most_ranks)),
                      static_cast<int>(count_of(json, "threads", 1, most_threads)),
                      number_of(json, "rtol", 0, 1)};
  if (!(situation.rtol > 0 && situation.rtol < 1)) throw InputError("a tolerance that is none");
  return situation;
}

/// In seconds since 1970: clocks of machines differ, but not by days.
std::int64_t latest_time() {
  const auto tomorrow = std::chrono::system_clock::now() + std::chrono::hours(24);
  return std::chrono::duration_cast<std::chrono::seconds>(tomorrow.time_since_epoch()).count();
}

}  // namespace

Json to_json(const Lesson& lesson) {
  return {{"schema", "ayatori.knowledge/1"},
          {"matrix",
           {{"pattern", digits(lesson.matrix.pattern)},
            {"values", digits(lesson.matrix.values)},
            {"source", lesson.source},
            {"facts", to_json(lesson.facts)}}},
          {"situation",
           {{"machine", lesson.situation.machine},
            {"ranks", lesson.situation.ranks},
            {"threads", lesson.situation.threads},
            {"rtol", lesson.situation.rtol}}},
          {"written", lesson.written},
          {"solves", lesson.solves},
          {"best", best_json(lesson.best)},
          {"seconds", lesson.seconds},
          {"iterations", lesson.iterations},
          {"failed", failures_json(lesson.failed)},
          {"lost", lesson.lost}};
}

Lesson lesson_from_json(const Json& json) {
  try {
    if (!json.is_object()) throw InputError("no lesson of a knowledge base");
    if (json.at("schema") != "ayatori.knowledge/1") throw InputError("of another schema");
    const Json& matrix = json.at("matrix");
    auto best = best_from_json(json.at("best"));
    return {{from_digits(matrix.at("pattern")), from_digits(matrix.at("values"))},
            facts_from_json(matrix.at("facts")),
            text_of(matrix.at("source")),
            situation_from_json(json.at("situation")),
            count_of(json, "written", 0, latest_time()),
            static_cast<int>(count_of(json, "solves", 1, most_solves)),
            best,
            number_of(json, "seconds", best ? least_seconds : 0, most_seconds),
            count_of(json, "iterations", best ? 1 : 0),
            failures_from_json(json.at("failed")),
            losers_from_json(json.at("lost"))};
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("no lesson of a knowledge base: {}", words_of(error)));
  }
}

Json to_json(const Experience& experience) {
  return {{"best", best_json(experience.best)},
          {"why", experience.why},
          {"failed", failures_json(experience.failed)},
          {"lost", experience.lost},
          {"familiar", experience.familiar}};
}

Experience experience_from_json(const Json& json) {
  try {
    return {best_from_json(json.at("best")), json.at("why"), failures_from_json(json.at("failed")),
            json.at("lost"), json.at("familiar")};
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("no experience: {}", error.what()));
  }
}

}  // namespace ayatori::tuning
