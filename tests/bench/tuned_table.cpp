#include "bench/collectives/tuned_table.hpp"

#include <gtest/gtest.h>

#include <set>

#include "ayatori/collectives/schedules/validate.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"
#include "bench/collectives/guidelines.hpp"
#include "bench/collectives/mpi_rules.hpp"

namespace ayatori::bench {
namespace {

using collectives::Exchange;
using collectives::Operation;

TEST(Guidelines, ComposedPlansDoTheOperation) {
  std::set<Operation> composed;
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (const Guideline& guideline : guidelines()) {
      const auto plans = composed_plans(guideline, ranks, nullptr);
      if (ranks == 1 || guideline.parts.size() == 1) {
        EXPECT_TRUE(plans.empty()) << guideline.text();
      }
      for (const auto& plan : plans) {
        EXPECT_EQ(plan.operation, guideline.operation);
        EXPECT_NO_THROW(check_plan(plan)) << guideline.text();
        EXPECT_EQ(find_violation(expand(plan)), std::nullopt) << guideline.text() << ": " << describe(plan);
        composed.insert(plan.operation);
      }
    }
  }
  EXPECT_EQ(composed, (std::set<Operation>{Operation::broadcast, Operation::reduce, Operation::allreduce,
                                           Operation::allgather, Operation::reduce_scatter}));
}

TEST(Guidelines, DigitsOfTheMergeAreTried) {
  const Guideline* guideline = &guidelines().front();
  ASSERT_EQ(guideline->text(), "broadcast <= scatter + allgather");
  const collectives::WordPlan merge{.operation = Operation::allgather,
                                    .ranks = 6,
                                    .digits = {{1, 2, Exchange::direct}, {2, 3, Exchange::ring}}};
  const auto plans = composed_plans(*guideline, 6, &merge);
  EXPECT_EQ(plans.back().digits, merge.digits);
  EXPECT_EQ(to_string(plans.back().word), "MMSS");
  EXPECT_EQ(find_violation(expand(plans.back())), std::nullopt);
}

TunedSize size_of(std::int64_t bytes, int algorithm, int segment_bytes) {
  TunedSize size;
  size.bytes = bytes;
  if (algorithm > 0) size.forced = {{"x", algorithm, segment_bytes, {}}, {}};
  return size;
}

TEST(Rules, OfOpenMpi) {
  const std::vector<TunedOperation> tuned{
      {Operation::broadcast,
       {size_of(1024, 6, 0), size_of(2048, 6, 0), size_of(4096, 0, 0), size_of(8192, 3, 1024)}}};
  EXPECT_EQ(open_mpi_rules(tuned, 12),
            "1 # operations\n"
            "7 # broadcast\n"
            "3 # numbers of ranks\n"
            "1 # and less than 12\n"
            "1\n"
            "0 0 0 0\n"
            "12 # ranks\n"
            "4 # sizes: from bytes, algorithm, fan-out, segment\n"
            "0 6 4 0\n"
            "2897 0 4 0\n"
            "5793 3 4 1024\n"
            "16384 0 4 0\n"
            "13 # and more\n"
            "1\n"
            "0 0 0 0\n");
}

}  // namespace
}  // namespace ayatori::bench
