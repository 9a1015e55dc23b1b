#include "ayatori/tuning/memory/lesson.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>
#include <tuple>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/printable.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/solvers/least_squares.hpp"
#include "ayatori/tuning/judgement.hpp"

namespace ayatori::tuning {

namespace {

std::uint64_t hash(const std::string& text) {
  std::uint64_t value = text.size();
  for (const char letter : text) value = random_bits(value, static_cast<unsigned char>(letter));
  return value;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Numerics that are of no use; "outpaced" and "overtaken" ones only were slower here.
bool failed(const Trial& trial) {
  return trial.outcome == "breakdown" || trial.outcome == "stagnated" || trial.outcome == "failed";
}

/// Kernels and halo strategies that have been measured and are not in use.
std::vector<std::string> losers(const SolveReport& report) {
  std::vector<std::string> names;
  for (const CandidateVerdict& c : report.considered) {
    const std::string& chosen = c.item == "kernel" ? report.choice.kernel : report.choice.halo;
    if (c.measured > 0 && c.name != chosen && !has(names, c.name)) names.push_back(c.name);
  }
  return names;
}

/// Matrices are similar if what choices go by is, and order and rows are of about one size.
bool similar(const MatrixFacts& a, const MatrixFacts& b) {
  constexpr double of_one_size = 1.5;  // ratio of entries per row: other stencils differ by more
  const auto ratio = [](double p, double q) { return std::max(p, q) / std::max(std::min(p, q), 1e-300); };
  const auto rows = [](const MatrixFacts& f) {
    return static_cast<double>(std::max<std::int64_t>(f.rows, 1));
  };
  const auto per_row = [&](const MatrixFacts& f) { return (static_cast<double>(f.nonzeros) + 1) / rows(f); };
  return a.symmetric == b.symmetric && a.pattern_symmetric == b.pattern_symmetric &&
         a.looks_positive_definite() == b.looks_positive_definite() &&
         a.looks_negative_definite() == b.looks_negative_definite() &&
         (a.zero_diagonals > 0) == (b.zero_diagonals > 0) && ratio(rows(a), rows(b)) <= far_more &&
         ratio(per_row(a), per_row(b)) <= of_one_size &&
         ratio(1 + a.dominant_rows, 1 + b.dominant_rows) <= of_one_size &&
         ratio(1 + a.diffusive_rows, 1 + b.diffusive_rows) <= of_one_size;
}

enum class Likeness { same_matrix, same_pattern, similar_matrix, none };

Likeness likeness_of(const Lesson& lesson, const sparse::Fingerprint& matrix, const MatrixFacts& facts) {
  if (lesson.matrix == matrix) return Likeness::same_matrix;
  if (!similar(lesson.facts, facts)) return Likeness::none;
  return lesson.matrix.pattern == matrix.pattern ? Likeness::same_pattern : Likeness::similar_matrix;
}

std::string_view name_of(Likeness likeness) {
  switch (likeness) {
    case Likeness::same_matrix:
      return "same matrix";
    case Likeness::same_pattern:
      return "same pattern";
    case Likeness::similar_matrix:
      return "similar matrix";
    case Likeness::none:
      break;
  }
  return "";
}

bool same_place(const Situation& a, const Situation& b) {
  return a.machine == b.machine && a.ranks == b.ranks && a.threads == b.threads;
}

/// The smaller, the more a lesson is worth.
auto distance(const Lesson& lesson, Likeness likeness, const Situation& situation) {
  const double of_tolerance = std::abs(std::log(lesson.situation.rtol / situation.rtol));
  return std::tuple(likeness, !lesson.best, !same_place(lesson.situation, situation),
                    lesson.situation.machine != situation.machine, of_tolerance, -lesson.written);
}

std::string reason(const Lesson& lesson, Likeness likeness) {
  const std::string what =
      likeness == Likeness::same_matrix ? "this matrix"
      : likeness == Likeness::same_pattern
          ? fmt::format("a matrix of this pattern ({})", lesson.source)
          : fmt::format("a similar matrix ({}, {} rows)", lesson.source, lesson.facts.rows);
  return fmt::format("it solved {} to {:.0e} in {} iterations and {:.3g} s on {} x {} before", what,
                     lesson.situation.rtol, lesson.iterations, lesson.seconds, lesson.situation.ranks,
                     lesson.situation.threads);
}

}  // namespace

std::string Lesson::key() const {
  const std::string where =
      fmt::format("{}|{}|{}|{:a}", situation.machine, situation.ranks, situation.threads, situation.rtol);
  return fmt::format("{}{:016x}", beginning_of_keys(matrix), hash(where));
}

std::string beginning_of_keys(const sparse::Fingerprint& matrix) {
  return fmt::format("{:016x}-", matrix.values);
}

Lesson learn(const SolveReport& report, const sparse::Fingerprint& matrix, const std::string& source,
             Situation situation, const Forced& forced) {
  Lesson lesson;
  lesson.matrix = matrix;
  lesson.facts = report.facts;
  lesson.source = printable(source);
  lesson.situation = std::move(situation);
  lesson.written =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  lesson.solves = 1;
  for (const Trial& trial : report.trials) {
    const bool won = report.converged() && same_numerics(trial.choice, report.choice);
    // LSMR is no arm that could be asked for or left out.
    if (!failed(trial) || won || is_least_squares(trial.choice)) continue;
    lesson.failed.push_back(
        {trial.choice, fmt::format("{} at {:.1e}", trial.outcome, trial.relative_residual)});
  }
  const bool was_free = !forced.method && !forced.preconditioner && !forced.restart &&
                        !forced.orthogonalization && forced.excluded.empty();
  if (!report.converged() || !was_free || report.iterations == 0) return lesson;
  if (is_least_squares(report.choice)) return lesson;
  lesson.best = report.choice;
  if (forced.kernel) lesson.best->kernel.clear();
  if (forced.halo) lesson.best->halo.clear();
  lesson.seconds = report.seconds.total;
  lesson.iterations = report.iterations;
  lesson.lost = losers(report);
  return lesson;
}

Lesson merge(const Lesson& older, Lesson newer) {
  newer.solves =
      static_cast<int>(std::min<std::int64_t>(std::int64_t{newer.solves} + older.solves, most_solves));
  // A record that its own numerics miss by far is none, whoever wrote it.
  const bool is_refuted = older.best && newer.best && same_numerics(*older.best, *newer.best) &&
                          newer.seconds > far_more * older.seconds;
  const bool fails_now = older.best && std::ranges::any_of(newer.failed, [&](const Experience::Failure& f) {
                           return same_numerics(f.choice, *older.best);
                         });
  const bool keeps =
      older.best && !fails_now && !is_refuted && (!newer.best || older.seconds < newer.seconds);
  for (const auto& failure : older.failed) {
    const bool is_known = std::ranges::any_of(newer.failed, [&](const Experience::Failure& other) {
      return same_numerics(other.choice, failure.choice);
    });
    const bool has_won = newer.best && same_numerics(*newer.best, failure.choice);
    if (!is_known && !has_won) newer.failed.push_back(failure);
  }
  for (const auto& name : older.lost) {
    if (!has(newer.lost, name)) newer.lost.push_back(name);
  }
  if (keeps) {
    newer.best = older.best;
    newer.seconds = older.seconds;
    newer.iterations = older.iterations;
  }
  if (newer.best) {
    std::erase_if(newer.lost,
                  [&](const auto& name) { return name == newer.best->kernel || name == newer.best->halo; });
    std::erase_if(newer.failed, [&](const auto& f) { return same_numerics(f.choice, *newer.best); });
  }
  return newer;
}

Recalled recall(std::span<const Lesson> lessons, const sparse::Fingerprint& matrix, const MatrixFacts& facts,
                const Situation& situation) {
  const Lesson* nearest = nullptr;
  auto likeness = Likeness::none;
  Recalled recalled;
  for (const Lesson& lesson : lessons) {
    const Likeness its = likeness_of(lesson, matrix, facts);
    if (its == Likeness::none) continue;
    if (nearest == nullptr || distance(lesson, its, situation) < distance(*nearest, likeness, situation)) {
      nearest = &lesson;
      likeness = its;
    }
  }
  if (nearest == nullptr) return recalled;
  recalled.likeness = name_of(likeness);
  recalled.key = nearest->key();
  Experience& experience = recalled.experience;
  const bool here = likeness != Likeness::similar_matrix && same_place(nearest->situation, situation);
  if (nearest->best) {
    experience.best = nearest->best;
    experience.why = reason(*nearest, likeness);
    if (here) experience.lost = nearest->lost;
    if (!here) experience.best->kernel = experience.best->halo = "";
    experience.familiar = likeness == Likeness::same_matrix && nearest->situation == situation;
  }
  // What failed at a looser tolerance fails at this one too.
  for (const Lesson& lesson : lessons) {
    const bool applies = &lesson == nearest || likeness_of(lesson, matrix, facts) == Likeness::same_matrix;
    if (!applies || lesson.situation.rtol < situation.rtol) continue;
    for (const auto& failure : lesson.failed) {
      const bool is_best = experience.best && same_numerics(*experience.best, failure.choice);
      const bool is_known = std::ranges::any_of(experience.failed, [&](const Experience::Failure& other) {
        return same_numerics(other.choice, failure.choice);
      });
      if (!is_best && !is_known) experience.failed.push_back(failure);
    }
  }
  return recalled;
}

std::string machine_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  std::string name = "processor";
  while (std::getline(file, line)) {
    const auto colon = line.find(": ");
    const bool says_what = line.starts_with("model name") || line.starts_with("CPU part");
    if (!says_what || colon == std::string::npos) continue;
    name = line.substr(colon + 2);
    break;
  }
  return fmt::format("{}, {} cores", name, std::thread::hardware_concurrency());
}

}  // namespace ayatori::tuning
