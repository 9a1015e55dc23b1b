#include "ayatori/collectives/schedules/cost.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"

namespace ayatori::collectives {
namespace {

double predict(Operation operation, int ranks, const char* word, DigitOrder order, const char* profile,
               double bytes) {
  const auto machine = machine::load_profile(profile);
  const Word letters = type_of(operation).has_words ? parse_word(word) : Word();
  const network::Hierarchy network(machine, ranks);
  return predict_seconds(load_of(expand(make_plan(operation, ranks, letters, order)), network), network,
                         bytes);
}

constexpr double word = 8;

/// By hand from Imamura's table 3: 2.77 us in a SHUB, then many pairs in a brick, then through the machine.
TEST(Cost, IsThatOfTheTable) {
  EXPECT_NEAR(predict(Operation::broadcast, 2, "C", DigitOrder::near_first, "altix3700bx2", 1000 * word),
              2.77e-6 + 4.79e-6, 1e-12);
  EXPECT_NEAR(predict(Operation::broadcast, 16, "CCCC", DigitOrder::near_first, "altix3700bx2", 1000 * word),
              (2.77 + 4.79 + 2 * (3.92 + 9.96) + 3.92 + 22.13) * 1e-6, 1e-12);
  // with far digits first a single pair crosses the machine
  EXPECT_NEAR(predict(Operation::broadcast, 16, "CCCC", DigitOrder::far_first, "altix3700bx2", 1000 * word),
              (4.46 + 8.37 + 2 * (3.92 + 9.96) + 2.91 + 4.60) * 1e-6, 1e-12);
  // both directions at once
  EXPECT_NEAR(predict(Operation::allreduce, 4, "CC", DigitOrder::near_first, "altix3700bx2", 1000 * word),
              (3.34 + 8.71 + 5.43 + 13.08) * 1e-6, 1e-12);
}

TEST(Cost, SplittingSavesBytes) {
  const auto bytes = 1e7 * word;
  EXPECT_LT(
      predict(Operation::allreduce, 128, "MMMMMMMSSSSSSS", DigitOrder::near_first, "altix3700bx2", bytes),
      0.5 * predict(Operation::allreduce, 128, "CCCCCCC", DigitOrder::near_first, "altix3700bx2", bytes));
}

TEST(Cost, AProfileThatIsTooSmallIsRejected) {
  EXPECT_THROW(predict(Operation::broadcast, 16, "CCCC", DigitOrder::near_first, "pc-cluster-gbe", 8),
               InputError);
}

}  // namespace
}  // namespace ayatori::collectives
