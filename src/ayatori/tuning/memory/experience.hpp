#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ayatori/tuning/policy/arms.hpp"

namespace ayatori::tuning {

struct ProductPlan;

/// What earlier solves teach: where to begin, and what to leave for last. What is forced or excluded stands
/// above it.
struct Experience {
  std::optional<Choice> best;  ///< numerics; kernel and halo strategy where they are not empty
  std::string why;             ///< reason for `best`, one sentence

  /// Numerics that broke down, stagnated or could not be built; restart lengths do not matter.
  struct Failure {
    Choice choice;
    std::string why;
  };
  std::vector<Failure> failed;

  /// Kernels and halo strategies that need no further trial.
  std::vector<std::string> lost;

  bool familiar =
      false;  ///< the same matrix was solved in the same situation: hardly anything is to be found out

  bool empty() const { return !best && failed.empty() && lost.empty(); }
};

/// Whether method and preconditioner are the same.
bool same_numerics(const Choice& a, const Choice& b);

/// The share of time for tuning where the matrix is familiar, at most.
inline constexpr double familiar_share = 0.01;

/// The arms with the best first and the failed last; restart lengths stay below `longest_restart`.
std::vector<ListedArm> apply(const Experience& experience, std::vector<ListedArm> arms, const Forced& forced,
                             int longest_restart);

/// The plan that begins with the best kernel and halo strategy, and does not try what has lost.
void apply(const Experience& experience, ProductPlan& plan);

}  // namespace ayatori::tuning
