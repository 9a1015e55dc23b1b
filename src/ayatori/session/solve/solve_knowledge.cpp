#include "ayatori/session/solve/solve_knowledge.hpp"

#include <fmt/format.h>

#include <utility>

#include "ayatori/base/json.hpp"
#include "ayatori/base/printable.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/environment.hpp"

namespace ayatori::session {

SolveKnowledge::SolveKnowledge(comm::Comm comm, const std::string& word, sparse::Fingerprint matrix,
                               std::string source, tuning::Situation situation)
    : comm_(std::move(comm)), matrix_(matrix), source_(std::move(source)), situation_(std::move(situation)) {
  const std::string folder = comm_.broadcast(word == "auto" ? tuning::default_knowledge_folder() : word, 0);
  if (folder == "none") return;
  base_.emplace(folder);
  comm::agree(comm_, [&] {
    if (comm_.rank() != 0) return;
    // As it will be read: what some MPI says of itself has tabs, ends of lines and thousands of letters.
    constexpr std::size_t enough = 500;
    situation_.machine =
        printable(fmt::format("{}, {}", tuning::machine_name(), comm::mpi_version()), enough);
    try {
      // What is known of the matrix itself leaves no question to the others.
      auto content = base_->read(tuning::beginning_of_keys(matrix_));
      if (content.lessons.empty()) content = base_->read();
      lessons_ = std::move(content.lessons);
      notes_ = std::move(content.ignored);
    } catch (const EnvironmentError& error) {
      notes_.emplace_back(error.what());
    }
  });
}

tuning::Experience SolveKnowledge::recall(const tuning::MatrixFacts& facts) {
  if (comm_.rank() == 0) recalled_ = tuning::recall(lessons_, matrix_, facts, situation_);
  if (comm_.size() == 1) return recalled_.experience;
  const std::string mine = comm_.rank() == 0 ? tuning::to_json(recalled_.experience).dump() : "";
  const auto json = parse_ordered_json(comm_.broadcast(mine, 0));
  return tuning::experience_from_json(json);
}

void SolveKnowledge::store(const tuning::SolveReport& report, const tuning::Forced& forced) {
  const auto lesson = tuning::learn(report, matrix_, source_, situation_, forced);
  if (!lesson.best && lesson.failed.empty()) return;
  try {
    written_ = base_->store(lesson);
  } catch (const EnvironmentError& error) {
    notes_.emplace_back(error.what());
  }
}

std::vector<std::string> SolveKnowledge::take_notes() {
  return {notes_.begin() + static_cast<std::ptrdiff_t>(std::exchange(taken_, notes_.size())), notes_.end()};
}

std::string SolveKnowledge::summary(const tuning::SolveReport& report) const {
  if (recalled_.likeness.empty()) return "";
  const auto& experience = recalled_.experience;
  std::string text = recalled_.likeness;
  if (experience.best) {
    const auto same = [&](const tuning::Choice& choice) {
      return choice.method == experience.best->method &&
             choice.preconditioner == experience.best->preconditioner;
    };
    const bool was_first = !report.trials.empty() && same(report.trials.front().choice);
    const std::string best = describe(*experience.best);
    text += was_first ? ": began with " + best : fmt::format(": {} was best before", best);
  }
  if (!experience.failed.empty())
    text += fmt::format("; {} that failed {} left for last", experience.failed.size(),
                        experience.failed.size() == 1 ? "is" : "are");
  return text;
}

nlohmann::ordered_json SolveKnowledge::to_json() const {
  using Json = nlohmann::ordered_json;
  if (!base_) return nullptr;
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {{"folder", base_->folder()},     {"found", or_null(recalled_.likeness)},
          {"key", or_null(recalled_.key)}, {"experience", tuning::to_json(recalled_.experience)},
          {"written", or_null(written_)},  {"notes", notes_}};
}

}  // namespace ayatori::session
