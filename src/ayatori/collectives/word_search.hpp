#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/collectives/word_schedule.hpp"
#include "ayatori/machine/profile.hpp"

namespace ayatori::collectives {

struct WordChoice {
  std::int64_t bytes = 0;  ///< of the buffer
  Word word;               ///< empty for operations without words
  DigitOrder order = DigitOrder::near_first;
  double seconds = 0;               ///< predicted
  double binomial_seconds = 0;      ///< of copies only, near first; 0 for operations without words
  double rabenseifner_seconds = 0;  ///< splits, then merges, near first; 0 likewise
};

/// Words of so many digits without those in which a split is merged at once: that is never better than a
/// copy, which moves the same bytes in half the stages. Catalan-many.
std::vector<Word> worthwhile_words(int digits);

/// For every size the word and order with the least predicted time (Imamura, section 3.4). Throws InputError
/// as make_plan() and loads_of() do.
std::vector<WordChoice> search_words(Operation operation, int ranks, const machine::Profile& profile,
                                     std::span<const std::int64_t> sizes);

}  // namespace ayatori::collectives
