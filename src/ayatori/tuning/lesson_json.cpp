#include <charconv>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/tuning/choice_json.hpp"
#include "ayatori/tuning/lesson.hpp"
#include "ayatori/tuning/report_json.hpp"

namespace ayatori::tuning {

namespace {

using Json = nlohmann::ordered_json;

std::string digits(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

std::uint64_t from_digits(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.size() != 16)
    throw InputError(fmt::format("'{}' is no fingerprint", text));
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
  for (const Json& failure : json)
    failures.push_back({choice_from_json(failure.at("choice")), failure.at("why")});
  return failures;
}

Json best_json(const std::optional<Choice>& best) {
  return best ? to_json(*best) : Json(nullptr);
}

std::optional<Choice> best_from_json(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(choice_from_json(json));
}

MatrixFacts facts_from_json(const Json& json) {
  MatrixFacts facts;
  facts.rows = json.at("rows");
  facts.nonzeros = json.at("nonzeros");
  facts.symmetric = json.at("symmetric");
  facts.pattern_symmetric = json.at("pattern_symmetric");
  facts.asymmetry = json.at("asymmetry");
  facts.min_row_nonzeros = json.at("min_row_nonzeros");
  facts.max_row_nonzeros = json.at("max_row_nonzeros");
  facts.positive_diagonals = json.at("positive_diagonals");
  facts.negative_diagonals = json.at("negative_diagonals");
  facts.zero_diagonals = json.at("zero_diagonals");
  facts.dominant_rows = json.at("dominant_rows");
  facts.diffusive_rows = json.value("diffusive_rows", facts.dominant_rows);
  return facts;
}

Situation situation_from_json(const Json& json) {
  Situation situation{json.at("machine"), json.at("ranks"), json.at("threads"), json.at("rtol")};
  if (!(situation.rtol > 0 && situation.rtol < 1)) throw InputError("a tolerance that is none");
  return situation;
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
    if (json.at("schema") != "ayatori.knowledge/1") throw InputError("of another schema");
    const Json& matrix = json.at("matrix");
    return {{from_digits(matrix.at("pattern")), from_digits(matrix.at("values"))},
            facts_from_json(matrix.at("facts")),
            matrix.at("source"),
            situation_from_json(json.at("situation")),
            json.at("written"),
            json.at("solves"),
            best_from_json(json.at("best")),
            json.at("seconds"),
            json.at("iterations"),
            failures_from_json(json.at("failed")),
            json.at("lost")};
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("no lesson of a knowledge base: {}", error.what()));
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
