#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/collectives/operation.hpp"
#include "ayatori/collectives/search/search_options.hpp"
#include "ayatori/collectives/words/word_plan.hpp"
#include "ayatori/machine/profile.hpp"

namespace ayatori::collectives {

struct Candidate {
  WordPlan plan;
  double seconds = 0;           ///< by the model
  double replayed_seconds = 0;  ///< 0 if it was not replayed
};

/// The best for one size, and what is well known beside it.
struct SizeChoice {
  std::int64_t bytes = 0;            ///< length of the buffer
  std::vector<Candidate> finalists;  ///< the best first
  double binomial_seconds = 0;       ///< copies of binary digits, near first; 0 where there are none
  double rabenseifner_seconds = 0;   ///< binary digits, splits, then merges, near first; 0 likewise

  const Candidate& best() const { return finalists.front(); }
};

/// For every size the plan that takes the least time on the machine. Words are built letter by letter by
/// dynamic programming over what is used up, the digit's radix and exchange, and the piece, near first and
/// far first, among all ranks or among leaders (of every level's groups, or of a power of two of ranks);
/// pipelines are tried over the digits of the machine's levels; the best by the model (see
/// schedules/cost.hpp) are replayed. Throws InputError if there are no ranks, the profile has fewer, or no
/// plan does what the options ask.
std::vector<SizeChoice> search(Operation operation, int ranks, const machine::Profile& profile,
                               std::span<const std::int64_t> sizes, const SearchOptions& options = {});

}  // namespace ayatori::collectives
