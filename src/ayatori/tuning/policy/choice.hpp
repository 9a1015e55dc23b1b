#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/tuning/facts/facts.hpp"

namespace ayatori::tuning {

/// GMRES(30) is what records, PETSc and most papers mean by GMRES; a CycleTuner changes it.
inline constexpr int usual_restart = 30;

/// Everything that is chosen for a solve, by the names in the lists of solvers and sparse. Kernel and halo
/// are empty as long as they are open.
struct Choice {
  std::string method;
  std::string preconditioner;
  int restart = usual_restart;
  std::string orthogonalization;
  std::string kernel;
  std::string halo;
  std::string device = {};  ///< on which the iterations run, or the processor

  bool operator==(const Choice&) const = default;
};

/// "cg + block-ilu0", "gmres(30) + jacobi, orthogonalization mgs": the numerics of a choice in words.
std::string describe(const Choice& choice);

/// Preconditioned by the diagonal at most.
inline bool uses_diagonal_at_most(const Choice& choice) {
  return choice.preconditioner == "jacobi" || choice.preconditioner == "none";
}

/// Preconditioned by complete factors, and so a direct solve.
inline bool uses_complete_factors(const Choice& choice) {
  return choice.preconditioner == "direct";
}

/// LSMR, which is in no list of methods: it has no preconditioner, and is not for regular systems.
bool is_least_squares(const Choice& choice);
Choice least_squares_choice();

/// What the user insists on; the rest is chosen.
struct Forced {
  std::optional<std::string> method;
  std::optional<std::string> preconditioner;
  std::optional<int> restart;
  std::optional<std::string> orthogonalization;
  std::optional<std::string> kernel;
  std::optional<std::string> halo;
  std::vector<std::string>
      excluded;  ///< names that must not be chosen; a halo strategy also without "+overlap"

  bool excludes(std::string_view name) const { return std::ranges::find(excluded, name) != excluded.end(); }
};

/// Throws InputError for names that do not exist and for combinations that contradict each other, such as a
/// restart length for a method that never restarts, or something both forced and excluded.
void check(const Forced& forced);

}  // namespace ayatori::tuning
