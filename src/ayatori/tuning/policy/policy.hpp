#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "ayatori/tuning/model/forecast.hpp"

namespace ayatori::tuning {

/// What to do next, and why.
struct Action {
  std::size_t arm;
  std::string why;
};

/// Which arm is complete factors, of those of a solve.
using CompleteFactors = std::optional<std::size_t>;

/// The arm with which the solve is expected to end soonest, failures and changes included; the one at work
/// unless another is clearly sooner. When the solve has taken as long without complete factors as they are
/// expected to take, and no end is near, they come (the rule of renting or buying: no more than about twice
/// what the better of both takes). Nothing where no arm may run of which something is known. `outlook`: of
/// this progress. A pure function: what has been seen is all it goes by.
std::optional<Action> next_action(const Outlook& outlook, const Progress& progress, CompleteFactors complete);

/// Whether the solve is expected to end clearly sooner with another arm.
bool is_clearly_later(const Outlook& outlook, std::size_t arm);

/// "52 products expected, 40 to 90, from 32 similar systems"
std::string describe(const Outlook& outlook, std::size_t arm);

/// Iterations after which an arm is looked at for the first time: after 6 or 8 they tell less than they cost.
inline constexpr int first_look = 12;
/// And when next: half as long again, which bounds what is spent between two looks.
int next_look(int iteration);

/// What a set-up may take in products before it is given up, as it takes far longer than expected: something
/// else may then be sooner. Infinite where it is expected to take no longer than a first look.
double most_products(double expected_set_up);

}  // namespace ayatori::tuning
