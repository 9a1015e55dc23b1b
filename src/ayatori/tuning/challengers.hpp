#pragma once

#include <cstddef>
#include <limits>
#include <optional>

#include "ayatori/tuning/pace.hpp"
#include "ayatori/tuning/solve_state.hpp"

namespace ayatori::tuning {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Whom an attempt challenges, and what it may cost.
struct Challenge {
  double finish = unlimited;     ///< seconds within which it must promise to finish
  double allowance = unlimited;  ///< seconds after which the challenger must have shown what it can
  int depth = 0;                 ///< attempts suspended
  bool is_favourite = false;     ///< for which what its set-up takes does not count against it
};

/// An arm that may challenge the one at work, and the price in seconds of finding out.
struct Challenger {
  std::size_t arm;
  double price;
  bool is_favourite;
};

/// An iteration at work, as its challengers see it, until the next trial begins. Seconds are its own, on
/// which the ranks agree.
struct AtWork {
  const Choice& choice;
  const Challenge& challenge;
  const Pace& pace;
  int iteration;         ///< of the method, since it started
  int judged_after;      ///< iterations, if it challenges another
  double seconds;        ///< set-up included
  double started_after;  ///< of these, before the method started
};

/// Iterations before the pace of a method is judged; a challenger that comes again gets twice as many.
inline constexpr int probation = 20;

/// What a set-up may take, in products, if that is known before it begins; infinite where there is no limit.
/// `on_trial`: it may be given up, as there are other arms.
double products_allowed(const Arm& arm, const SolveState& state, bool on_trial);

/// Complete factors that were given up as too dear, if the solve has taken as long without them as they
/// would: their price is known since (the rule of renting or buying).
std::optional<std::size_t> affordable_factors(const SolveState& state);

/// The next to challenge what is at work, if one promises to be worth its price and the budget allows that.
/// Of those that are expected to win the first; else of those that have been tried least. Decides by times on
/// which the ranks agree, so all decide the same.
std::optional<Challenger> next_challenger(const SolveState& state, const AtWork& work);

/// The terms on which the challenger runs while what is at work stands still, in seconds: those of a
/// favourite are easier.
Challenge terms_of(const Challenger& challenger, const SolveState& state, const AtWork& work);

/// Whether the one that is challenged by what is at work would finish first.
bool falls_behind(const SolveState& state, const AtWork& work);

}  // namespace ayatori::tuning
