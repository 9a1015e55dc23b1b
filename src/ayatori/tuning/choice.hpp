#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/tuning/facts.hpp"

namespace ayatori::tuning {

/// Everything that is chosen for a solve, by the names in the lists of solvers and sparse. Kernel and halo
/// are empty as long as they are open.
struct Choice {
  std::string method;
  std::string preconditioner;
  int restart = 30;
  std::string orthogonalization;
  std::string kernel;
  std::string halo;

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

/// A rung: what to try and why, one sentence.
struct Rung {
  Choice choice;
  std::string why;
  bool last_resort = false;  ///< no challenger: only for when the others have failed
  bool favourite = false;    ///< expected to win unless the solve is short, and then not worth its set-up
};

/// What to try, in order: the choice that the facts suggest, then others, stronger and dearer ones last. Each
/// is a challenger of those before it, and what comes next when they break down or stagnate. Forced parts are
/// the same in all rungs. `longest_restart` bounds the basis by what memory holds. Throws InputError if
/// nothing is left that is not excluded.
std::vector<Rung> make_ladder(const MatrixFacts& facts, const Forced& forced, int longest_restart);

/// Whether some row is so much longer than the mean that the matrix is of no mesh, but of a circuit, say.
bool has_long_rows(const MatrixFacts& facts);

/// Diffusion gives rows that the diagonal dominates or that sum to nothing, of about the same length and with
/// one unknown for each point, and is what aggregation was made for.
bool is_diffusive(const MatrixFacts& facts);

/// Whether the diagonal dominates nearly all rows.
bool is_dominated(const MatrixFacts& facts);

/// The iterations that CG with the diagonal takes at most to 1e-8: where it dominates every row clearly, the
/// condition number is at most 2 / least dominance. Infinite where it does not.
double iterations_by_dominance(const MatrixFacts& facts);

/// Whether the diagonal alone is a preconditioner that no other can beat by much.
bool is_solved_by_diagonal(const MatrixFacts& facts);

/// Iterations that a plain solve to 1e-8 needs at least, where the facts tell; otherwise 0.
double least_iterations(const MatrixFacts& facts);

/// What a choice is expected to cost before it is tried, in products with the matrix as compressed sparse
/// rows.
struct PredictedCost {
  double setup;
  double iteration;
};
/// `kernel_share`: what a product with the kernel in use takes of that.
PredictedCost predict_cost(const Choice& choice, const MatrixFacts& facts, double kernel_share = 1);

/// Those of complete factors: one, and one for what its rounding leaves.
inline constexpr int iterations_of_complete_factors = 2;

/// Iterations in which a choice is expected to shrink the residual by so many powers of e, where that can be
/// said before it is tried: complete factors need hardly any, and multigrid's hardly depend on the size of a
/// definite matrix of diffusion.
std::optional<double> expected_iterations(const Choice& choice, const MatrixFacts& facts, double powers);

}  // namespace ayatori::tuning
