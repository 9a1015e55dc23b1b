#include "ayatori/tuning/product/product_tuner.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "ayatori/base/error.hpp"
#include "ayatori/tuning/judgement.hpp"
#include "test_matrices.hpp"
#include "world.hpp"

namespace ayatori::tuning {
namespace {

using sparse::ProductOptions;

std::shared_ptr<const sparse::SplitMatrix> split_random() {
  const auto matrix = sparse::random_matrix(200, 5, 4);
  return std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())));
}

/// Products on recorded times: the clock runs by what a product with the options in use is said to cost.
struct Play {
  sparse::DistributedMatrix matrix;
  double now = 0;
  solvers::GlobalSum sum;
  Budget budget{0.1};
  std::map<std::string, int> products;  ///< by kernel and halo
  ProductTuner tuner;

  Play(const ProductPlan& plan, const std::function<double(const ProductOptions&)>& cost,
       std::function<void(ProductPlan&)> look = nullptr)
      : matrix(world(), split_random(), plan.first),
        sum(world(), {}, [this] { return now; }),
        tuner(
            matrix, sum, budget,
            [this, cost] {
              now += cost(matrix.options());
              return now;
            },
            plan, nullptr, std::move(look)) {}

  void run(int count) {
    const auto matrix_of = sparse::random_matrix(200, 5, 4);
    const auto x = sparse::test_vector(200, 3);
    const auto mine = sparse::piece(x, matrix.partition().range(world().rank()));
    const auto expected = sparse::piece(matrix_of.multiply(x), matrix.partition().range(world().rank()));
    Array<double> y(mine.size());
    for (int i = 0; i < count; ++i) {
      ++products[matrix.options().kernel];
      ++products[matrix.options().halo];
      matrix.apply(mine, y);
      for (std::size_t k = 0; k < y.size(); ++k) ASSERT_NEAR(y[k], expected[k], 1e-12);
      sum(1.0);
    }
  }

  std::string verdict(const std::string& name) const {
    for (const auto& c : tuner.candidate_verdicts()) {
      if (c.name == name) return c.verdict;
    }
    return "not considered";
  }
};

ProductPlan three_kernels() {
  return {{"csr", "allgather"},
          {{"kernel", "csr-unroll4", 12000}, {"kernel", "csr-delta16", 12000}, {"kernel", "sell-8", 12000}},
          {},
          12000};
}

TEST(ProductTuner, TheFastestIsFoundAndUsed) {
  Play play(three_kernels(), [](const ProductOptions& options) {
    // every rank has its own times: they agree all the same
    const double noise = 1 + 0.01 * world().rank();
    return noise * (options.kernel == "csr-delta16" ? 0.5 : options.kernel == "sell-8" ? 0.7 : 1.0);
  });
  play.run(1000);
  EXPECT_EQ(play.tuner.incumbent().kernel, "csr-delta16");
  EXPECT_EQ(play.matrix.options(), play.tuner.incumbent());
  EXPECT_EQ(play.verdict("csr-unroll4"), "slower");
  EXPECT_EQ(play.verdict("csr-delta16"), "faster");
  EXPECT_EQ(play.verdict("sell-8"), "slower");
  EXPECT_GT(play.products["csr-delta16"], 500);
}

TEST(ProductTuner, ASlowChallengerCostsNoMoreThanItsShare) {
  Play play(three_kernels(),
            [](const ProductOptions& options) { return options.kernel == "csr-unroll4" ? 30.0 : 1.0; });
  play.run(2000);
  EXPECT_LE(play.products["csr-unroll4"], 2);
  EXPECT_EQ(play.verdict("csr-unroll4"), "slower");
  EXPECT_EQ(play.tuner.incumbent().kernel, "csr");
  EXPECT_LE(play.budget.spent(), 0.1 * play.now);
}

TEST(ProductTuner, NothingIsTriedBeforeTheBudgetAllowsIt) {
  Play play(three_kernels(), [](const ProductOptions&) { return 1.0; });
  play.run(30);
  EXPECT_EQ(play.products["csr"], 30);
  EXPECT_EQ(play.verdict("csr-unroll4"), "not tried");
}

TEST(ProductTuner, TheHopelessIsNeverBuilt) {
  auto plan = three_kernels();
  plan.candidates[0].traffic = 1e9;
  Play play(plan, [](const ProductOptions&) { return 1.0; });
  play.run(1000);
  EXPECT_EQ(play.products["csr-unroll4"], 0);
  EXPECT_EQ(play.verdict("csr-unroll4"), "hopeless");
}

TEST(ProductTuner, WhatCannotBeBuiltIsNotedAndLeft) {
  auto plan = three_kernels();
  plan.candidates[0].name = "no-such-kernel";
  Play play(plan, [](const ProductOptions& options) { return options.kernel == "sell-8" ? 0.5 : 1.0; });
  play.run(1500);
  EXPECT_EQ(play.verdict("no-such-kernel"), "failed");
  EXPECT_EQ(play.tuner.incumbent().kernel, "sell-8");
}

TEST(ProductTuner, HaloStrategiesDuelToo) {
  const ProductPlan plan{{"csr", "p2p-irecv-first"}, {{"halo", "allgather", 0}, {"halo", "bcast", 0}}, {}};
  Play play(plan, [](const ProductOptions& options) { return options.halo == "allgather" ? 0.5 : 1.0; });
  play.run(800);
  EXPECT_EQ(play.tuner.incumbent().halo, "allgather");
  EXPECT_EQ(play.verdict("bcast"), "slower");
}

/// The machine's profile knows messages that are slower than anything the product shows.
TEST(ProductTuner, WhatTheMachineCannotDoIsNotTried) {
  ProductPlan plan{{"csr", "p2p-irecv-first"}, {{"halo", "bcast", 1e9, 1}}, {}};
  plan.message_bound = {1e-9, 1e6};
  Play play(plan, [](const ProductOptions&) { return 1.0; });
  play.run(800);
  EXPECT_EQ(play.verdict("bcast"), "hopeless");
}

TEST(PlanProduct, TakesTheMachinesFiguresFromItsProfile) {
  machine::Profile profile;
  profile.levels.resize(1);
  profile.levels[0].curves = {{"one-way", 1, {}, {{{0, 2e-6, 1e-9}}, 0}}};
  const auto plan = plan_product(world(), *split_random(), {}, &profile);
  EXPECT_EQ(plan.message_bound.latency, 2e-6);
  EXPECT_NEAR(plan.message_bound.seconds(3, 1000), 7e-6, 1e-12);
  for (const auto& candidate : plan.candidates) {
    if (candidate.item == "halo") {
      EXPECT_GT(candidate.messages, 0) << candidate.name;
    }
  }
}

TEST(PlanProduct, PredictsFromThePattern) {
  const auto matrix = sparse::tridiagonal_matrix(4000);
  const auto parts =
      std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())));
  const auto plan = plan_product(world(), *parts, {}, nullptr);
  EXPECT_NE(plan.first.kernel, "csr") << "three diagonals need no column numbers";
  for (const auto& candidate : plan.candidates) EXPECT_NE(candidate.name, plan.first.kernel);

  const auto random = plan_product(world(), *split_random(), {}, nullptr);
  EXPECT_NE(random.first.kernel, "dia");
  const auto is_excluded = [&](const char* name) {
    return std::ranges::any_of(random.excluded, [&](const CandidateVerdict& c) { return c.name == name; });
  };
  EXPECT_TRUE(is_excluded("dia"));
}

TEST(PlanProduct, APatternIsLookedAtWhenItsProductsHaveEarnedIt) {
  const auto parts = split_random();
  auto plan = plan_product(world(), *parts, {}, nullptr, Products::counted, 1e6);
  EXPECT_EQ(plan.first.kernel, "csr");
  EXPECT_GT(plan.products_before_planning, 5);
  plan.candidates.clear();  // a duel of halo strategies would come first
  const auto familiar = plan_product(world(), *parts, {}, nullptr, Products::familiar);
  EXPECT_GT(familiar.products_before_planning, 10 * plan.products_before_planning);
  EXPECT_EQ(plan_product(world(), *parts, {}, nullptr, Products::planned).products_before_planning, 0);
  constexpr double conversion = 30;
  const double look =
      world().allreduce(sparse::products_of_pattern_facts(parts->interior.nonzeros()), comm::ReduceOp::max);
  EXPECT_EQ(plan_product(world(), *parts, {}, nullptr, Products::counted).products_before_planning,
            static_cast<std::int64_t>(far_more * (look + conversion)));

  int looks = 0;
  double* now = nullptr;
  Play play(
      plan, [](const ProductOptions&) { return 1.0; },
      [&](ProductPlan& waiting) {
        ++looks;
        *now += 10 * world().rank();  // some ranks look longer: what is tried next is the same on all
        waiting.first.kernel = "sell-8";
        waiting.candidates = {{"kernel", "csr-unroll4", 12000}};
        waiting.first_traffic = waiting.csr_traffic = 12000;
        waiting.products_before_planning = 0;
      });
  now = &play.now;
  play.run(static_cast<int>(plan.products_before_planning) + 5);
  EXPECT_EQ(looks, 1);
  EXPECT_EQ(play.tuner.incumbent().kernel, "sell-8");
  EXPECT_EQ(play.products["csr"], plan.products_before_planning);
  EXPECT_EQ(play.products["sell-8"], 5);
  play.run(3000);
  EXPECT_EQ(play.verdict("csr-unroll4"), "slower");
}

TEST(ProductTuner, WhatTheFactsSpeakForIsTakenBeforeTheLook) {
  ProductPlan plan{
      .first = {"csr", "allgather"}, .products_before_planning = 50, .kernel_before_planning = "csr-delta16"};
  const auto conversion = static_cast<int>(sparse::kernel("csr-delta16").conversion_products);
  const auto cost = [](const ProductOptions& options) {
    return options.kernel == "csr-delta16" ? 0.25 : 1.0;
  };
  Play play(plan, cost, [](ProductPlan& waiting) {
    waiting.first.kernel = "sell-8";  // promises most, and takes as long as csr
    waiting.candidates = {{"kernel", "csr", 12000}, {"kernel", "csr-delta16", 11000}};
    waiting.first_traffic = 9000;
    waiting.csr_traffic = 12000;
    waiting.products_before_planning = 0;
  });
  play.run(conversion + 20);
  EXPECT_EQ(play.products["csr"], conversion);
  EXPECT_EQ(play.tuner.incumbent().kernel, "csr-delta16");
  EXPECT_DOUBLE_EQ(play.tuner.share_of_csr(), 0.25) << "as measured";
  play.run(3000);
  EXPECT_EQ(play.tuner.incumbent().kernel, "csr-delta16") << "the look only names rivals";
  EXPECT_EQ(play.verdict("sell-8"), "slower");
  EXPECT_DOUBLE_EQ(play.tuner.share_of_csr(), 0.25);
}

TEST(ProductTuner, WhatCannotBeTakenBeforeTheLookLeavesAllAsItIs) {
  ProductPlan plan{
      .first = {"csr", "allgather"}, .products_before_planning = 1000000, .kernel_before_planning = "dia"};
  Play play(plan, [](const ProductOptions&) { return 1.0; });
  play.run(100);
  EXPECT_EQ(play.products["csr"], 100);
  EXPECT_EQ(play.tuner.incumbent().kernel, "csr");
  EXPECT_EQ(play.tuner.share_of_csr(), 1);
}

TEST(PlanProduct, WhereTheFirstKernelFailsTheNextIsTaken) {
  auto plan = three_kernels();
  EXPECT_TRUE(take_next_kernel(plan, "no reason"));
  EXPECT_EQ(plan.first.kernel, "csr-unroll4");
  EXPECT_EQ(plan.excluded.back().name, "csr");
  EXPECT_TRUE(take_next_kernel(plan, ""));
  EXPECT_TRUE(take_next_kernel(plan, ""));
  EXPECT_EQ(plan.first.kernel, "sell-8");
  EXPECT_FALSE(take_next_kernel(plan, ""));
}

TEST(PlanProduct, WhatIsForcedHasNoRivalsAndWhatIsExcludedIsNone) {
  Forced forced;
  forced.kernel = "csr-reference";
  forced.halo = "allgather";
  const auto plan = plan_product(world(), *split_random(), forced, nullptr);
  EXPECT_EQ(plan.first, (ProductOptions{"csr-reference", "allgather"}));
  EXPECT_TRUE(plan.candidates.empty());

  Forced exclusive;
  exclusive.excluded = {"csr", "sell-8", "p2p-irecv-first"};
  const auto rest = plan_product(world(), *split_random(), exclusive, nullptr);
  EXPECT_NE(rest.first.kernel, "csr");
  for (const auto& candidate : rest.candidates) {
    EXPECT_NE(candidate.name, "sell-8");
    EXPECT_NE(candidate.name, "p2p-irecv-first+overlap");
  }
}

}  // namespace
}  // namespace ayatori::tuning
