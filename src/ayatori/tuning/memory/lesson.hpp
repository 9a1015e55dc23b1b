#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "ayatori/sparse/pattern/fingerprint.hpp"
#include "ayatori/tuning/facts/facts.hpp"
#include "ayatori/tuning/memory/experience.hpp"
#include "ayatori/tuning/solve.hpp"

namespace ayatori::tuning {

/// A lesson counts no further.
inline constexpr int most_solves = 1'000'000'000;

/// Where and how accurately a system is solved.
struct Situation {
  std::string machine;  ///< machine_name()
  int ranks = 1;
  int threads = 1;  ///< per rank
  double rtol = 1e-8;

  bool operator==(const Situation&) const = default;
};

/// What solves of one matrix in one situation have taught: the content of a file of the knowledge base.
struct Lesson {
  sparse::Fingerprint matrix;
  MatrixFacts facts;
  std::string source;  ///< what the matrix was called
  Situation situation;
  std::int64_t written = 0;    ///< seconds since 1970
  int solves = 0;              ///< that it was drawn from
  std::optional<Choice> best;  ///< the fastest that was chosen freely and converged, with kernel and halo
  double seconds = 0;          ///< that it took, set-ups and trials included
  std::int64_t iterations = 0;
  std::vector<Experience::Failure> failed;
  std::vector<std::string> lost;  ///< kernels and halo strategies that were slower than those of `best`

  /// A name for a file: of matrix and situation, both as 16 hexadecimal digits.
  std::string key() const;
};

/// What the keys of all lessons of a matrix begin with, and of no other.
std::string beginning_of_keys(const sparse::Fingerprint& matrix);

/// What a finished solve teaches. `forced`: what it was not free to choose is no preference.
Lesson learn(const SolveReport& report, const sparse::Fingerprint& matrix, const std::string& source,
             Situation situation, const Forced& forced);

/// Both lessons of one matrix and situation as one; `newer` is right where they disagree about failures, or
/// by a factor of ten about the time of the same numerics.
Lesson merge(const Lesson& older, Lesson newer);

/// The lesson nearest to a solve, and what it says.
struct Recalled {
  Experience experience;
  std::string likeness;  ///< "same matrix", "same pattern", "similar matrix"; empty if nothing was found
  std::string key;       ///< key of the lesson
};

/// What lessons say of a matrix: those of the same matrix first, then of the same pattern, then of similar
/// facts; among these of the same machine, ranks and threads, then of the nearest tolerance. Kernels and halo
/// strategies are taken only from lessons of the same pattern, machine, ranks and threads.
Recalled recall(std::span<const Lesson> lessons, const sparse::Fingerprint& matrix, const MatrixFacts& facts,
                const Situation& situation);

/// The processor of this node and how many of its cores there are: the same for all nodes that are alike.
std::string machine_name();

/// Schema "ayatori.knowledge/1".
nlohmann::ordered_json to_json(const Lesson& lesson);
/// The inverse. Throws InputError if it is no lesson, or of names that this version does not have.
Lesson lesson_from_json(const nlohmann::ordered_json& json);

nlohmann::ordered_json to_json(const Experience& experience);
Experience experience_from_json(const nlohmann::ordered_json& json);

}  // namespace ayatori::tuning
