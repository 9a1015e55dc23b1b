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
  std::vector<int> radices;         ///< the nearest digit's first
  double seconds = 0;               ///< predicted
  double binomial_seconds = 0;      ///< of copies of binary digits, near first; 0 where there are none
  double rabenseifner_seconds = 0;  ///< of binary digits, splits, then merges, near first; 0 likewise
};

/// Words of so many digits without those in which a split is merged at once: that is never better than a
/// copy, which moves the same bytes in half the stages. Catalan-many.
std::vector<Word> worthwhile_words(int digits);

/// The ways to write a number as a product of factors from 2 to `most`, in every order.
std::vector<std::vector<int>> ordered_factorizations(int number, int most);

/// For every size the radices up to `most_radix`, word and order with the least predicted time (Imamura,
/// section 3.4, for binary digits). Throws InputError as make_plan() and loads_of() do, and where a prime
/// factor of the ranks exceeds most_radix.
std::vector<WordChoice> search_words(Operation operation, int ranks, const machine::Profile& profile,
                                     std::span<const std::int64_t> sizes, int most_radix);

}  // namespace ayatori::collectives
