#include "ayatori/tuning/choice.hpp"

#include <algorithm>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/halo.hpp"
#include "ayatori/sparse/kernel.hpp"

namespace ayatori::tuning {

namespace {

/// The numerics of a rung before what is forced is laid over it.
struct Suggestion {
  const char* method;
  const char* preconditioner;
  int restart;
  const char* orthogonalization;
  const char* why;
};

std::vector<Suggestion> suggest(const MatrixFacts& facts, int longest_restart) {
  std::vector<Suggestion> list;
  if (facts.looks_positive_definite() || facts.looks_negative_definite()) {
    list.push_back({"cg", "block-ilu0", 0, "",
                    "the matrix is symmetric with a diagonal of one sign, so it may be definite"});
    list.push_back({"cg", "chebyshev", 0, "",
                    "a polynomial of the matrix reaches across the blocks that ILU(0) is cut into"});
    list.push_back({"cg", "jacobi", 0, "", "a diagonal preconditioner cannot spoil symmetry"});
    list.push_back({"minres", "jacobi", 0, "", "MINRES needs symmetry only, not definiteness"});
  } else if (facts.symmetric) {
    list.push_back({"minres", "none", 0, "", "the matrix is symmetric but not definite"});
  }
  list.push_back(
      {"gmres", "block-ilu0", 30, "cgs", "GMRES needs nothing but a matrix; block ILU(0) suits most"});
  list.push_back({"bicgstab", "block-ilu0", 0, "",
                  "BiCGSTAB has no basis to restart, so it may pass where GMRES(30) stagnates"});
  list.push_back({"gmres", "block-ilu0", 120, "ircgs",
                  "a longer basis, kept orthogonal, passes plateaus of the short one"});
  list.push_back(
      {"gmres", "block-jacobi", 120, "ircgs", "another preconditioner, in case the factors are useless"});
  list.push_back({"gmres", "neumann", 120, "ircgs",
                  "a polynomial of the matrix reaches across the blocks of the others"});
  for (int restart = 480; restart < longest_restart; restart *= 4) {
    list.push_back({"gmres", "block-ilu0", restart, "ircgs", "a longer basis still"});
  }
  list.push_back(
      {"gmres", "block-ilu0", longest_restart, "ircgs", "the longest basis that matrix and memory allow"});
  list.push_back(
      {"gmres", "jacobi", longest_restart, "ircgs", "the longest basis, with the plainest preconditioner"});
  list.push_back(
      {"gmres", "none", longest_restart, "ircgs", "the longest basis, with nothing that could do harm"});
  return list;
}

Choice lay_over(const Suggestion& suggestion, const Forced& forced) {
  Choice choice{suggestion.method,
                suggestion.preconditioner,
                suggestion.restart,
                suggestion.orthogonalization,
                "csr",
                "p2p-irecv-first+overlap"};
  if (forced.method) choice.method = *forced.method;
  if (forced.preconditioner) choice.preconditioner = *forced.preconditioner;
  if (forced.kernel) choice.kernel = *forced.kernel;
  if (forced.halo) choice.halo = *forced.halo;
  if (solvers::method(choice.method).restarts) {
    choice.restart = forced.restart.value_or(choice.restart > 0 ? choice.restart : 30);
    if (choice.orthogonalization.empty()) choice.orthogonalization = "cgs";
    if (forced.orthogonalization) choice.orthogonalization = *forced.orthogonalization;
  } else {
    choice.restart = 0;
    choice.orthogonalization.clear();
  }
  return choice;
}

}  // namespace

std::string describe(const Choice& choice) {
  std::string text = choice.method;
  if (choice.restart > 0) text += fmt::format("({})", choice.restart);
  text += " + " + choice.preconditioner;
  if (!choice.orthogonalization.empty()) text += ", orthogonalization " + choice.orthogonalization;
  return text;
}

void check(const Forced& forced) {
  if (forced.preconditioner) solvers::preconditioner(*forced.preconditioner);
  if (forced.orthogonalization) solvers::orthogonalization(*forced.orthogonalization);
  if (forced.kernel) sparse::kernel(*forced.kernel);
  if (forced.halo) sparse::halo_strategy(*forced.halo);
  if (forced.restart && *forced.restart < 1) {
    throw InputError(fmt::format("the restart length is {}, but must be at least 1", *forced.restart));
  }
  if (!forced.method) return;
  const auto& method = solvers::method(*forced.method);
  if (!method.restarts && forced.restart) {
    throw InputError(
        fmt::format("method '{}' never restarts, so a restart length contradicts it", method.name));
  }
  if (!method.restarts && forced.orthogonalization) {
    throw InputError(
        fmt::format("method '{}' keeps no basis, so an orthogonalization contradicts it", method.name));
  }
}

std::vector<Rung> make_ladder(const MatrixFacts& facts, const Forced& forced, int longest_restart) {
  // A restart length or an orthogonalization can only be obeyed by a method that has them.
  const bool wants_basis = !forced.method && (forced.restart || forced.orthogonalization);
  std::vector<Rung> ladder;
  for (const Suggestion& suggestion : suggest(facts, longest_restart)) {
    if (wants_basis && !solvers::method(suggestion.method).restarts) continue;
    Choice choice = lay_over(suggestion, forced);
    if (!forced.restart && choice.restart > longest_restart) choice.restart = longest_restart;
    const bool repeated =
        std::ranges::any_of(ladder, [&](const Rung& rung) { return rung.choice == choice; });
    if (repeated) continue;
    const bool as_suggested =
        choice.method == suggestion.method && choice.preconditioner == suggestion.preconditioner;
    ladder.push_back({std::move(choice),
                      as_suggested ? suggestion.why : "what you forced, and the next of what is left open"});
  }
  return ladder;
}

}  // namespace ayatori::tuning
