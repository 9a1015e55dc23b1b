#include <gtest/gtest.h>

#include "ayatori/collectives/schedules/validate.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"
#include "factorizations.hpp"

namespace ayatori::collectives {
namespace {

/// Every word of every operation, of every radices of 13 to 64 ranks; smaller jobs are in
/// words/word_schedule.cpp, with every root.
TEST(WordSchedule, EveryWordOfUpToSixtyFourRanks) {
  int number = 0;
  for (int ranks = 13; ranks <= 64; ++ranks) {
    for (const auto& radices : ordered_factorizations(ranks, ranks)) {
      const auto digits = static_cast<int>(radices.size());
      for (const auto& type : operations()) {
        for (const Word& word : type.has_words ? hybrid2_words(digits) : std::vector<Word>(1)) {
          const auto order = ++number % 2 == 0 ? DigitOrder::near_first : DigitOrder::far_first;
          const WordPlan plan =
              make_plan(type.operation, ranks, word, order, radices, type.has_root ? number % ranks : 0);
          const auto violation = find_violation(expand(plan));
          ASSERT_FALSE(violation) << type.name << " " << to_string(word) << " on " << ranks << ": "
                                  << violation.value_or("");
        }
      }
    }
  }
}

}  // namespace
}  // namespace ayatori::collectives
