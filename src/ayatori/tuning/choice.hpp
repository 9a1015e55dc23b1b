#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ayatori/tuning/facts.hpp"

namespace ayatori::tuning {

/// Everything that is chosen for a solve, by the names in the lists of solvers and sparse.
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

/// What the user insists on; the rest is chosen.
struct Forced {
  std::optional<std::string> method;
  std::optional<std::string> preconditioner;
  std::optional<int> restart;
  std::optional<std::string> orthogonalization;
  std::optional<std::string> kernel;
  std::optional<std::string> halo;
};

/// Throws InputError for names that do not exist and for combinations that contradict each other, such as a
/// restart length for a method that never restarts.
void check(const Forced& forced);

/// A rung: what to try and why, one sentence.
struct Rung {
  Choice choice;
  std::string why;
};

/// What to try, in order: the choice that the facts suggest, then stronger and dearer ones for the case that
/// it breaks down or stagnates. Forced parts are the same in all rungs. `longest_restart` bounds the basis by
/// what memory holds.
std::vector<Rung> make_ladder(const MatrixFacts& facts, const Forced& forced, int longest_restart);

}  // namespace ayatori::tuning
