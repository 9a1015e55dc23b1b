#pragma once

#include <span>
#include <string>
#include <vector>

#include "ayatori/collectives/words/word_plan.hpp"

namespace ayatori::bench {

/// A performance guideline (Traeff, Gropp, Thakur, "Self-consistent MPI performance guidelines", 2010;
/// Hunold, Carpen-Amarie, "Autotuning MPI collectives using performance guidelines", 2018): an operation
/// should not take longer than others, one after the other, that do the same for a buffer of the same size.
struct Guideline {
  collectives::Operation operation;
  std::vector<collectives::Operation> parts;

  /// "allreduce <= reduce + broadcast".
  std::string text() const;
};

std::span<const Guideline> guidelines();

/// Schedules that do what a guideline's parts do, in its operation: the parts that split and merge over the
/// digits of `merge` (a plan for the last part, if there is one) and over one digit of all ranks; those that
/// go through one rank with that rank as the leader of all. None for guidelines with one part: an operation
/// that does more than is asked for is no schedule for less.
std::vector<collectives::WordPlan> composed_plans(const Guideline& guideline, int ranks,
                                                  const collectives::WordPlan* merge);

}  // namespace ayatori::bench
