#include "ayatori/tuning/policy/policy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "recorded.hpp"

namespace ayatori::tuning {
namespace {

using Systems = std::vector<HandMade::System>;

/// What to do next on a system like these, when this has been seen.
std::optional<Action> next(const Systems& systems, const Progress& progress, CompleteFactors complete = {}) {
  const HandMade made(systems);
  std::vector<std::optional<std::size_t>> kin;
  for (std::size_t arm = 0; arm < systems.front().size(); ++arm) kin.emplace_back(arm);
  MatrixFacts facts;
  facts.rows = HandMade::rows;
  return next_action(Forecast(made.records(), facts, kin).expected(progress), progress, complete);
}

Progress nothing_seen(std::size_t arms) {
  Progress progress;
  progress.arms.resize(arms);
  return progress;
}

/// The first of two arms is at work, and has this many iterations left, of a product each.
Progress at_work() {
  Progress progress = nothing_seen(2);
  progress.at_work = 0;
  progress.arms[0].is_built = progress.arms[0].is_kept = true;
  return progress;
}

TEST(NextAction, IsTheArmExpectedToTakeLeast) {
  const RecordedArm slow = steady(0.1, 1, 90);
  const RecordedArm fast = steady(20, 2, 10);
  const auto first = next({{slow, fast}}, nothing_seen(2));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->arm, 1U);
  EXPECT_EQ(first->why, "40 products expected, 40 to 40, from 1 similar systems");
  EXPECT_EQ(next({{fast, slow}}, nothing_seen(2))->arm, 0U);
  Progress failed = nothing_seen(2);
  failed.arms[1].may_run = false;
  EXPECT_EQ(next({{slow, fast}}, failed)->arm, 0U);
}

TEST(NextAction, StaysUnlessAnotherIsClearlySooner) {
  const auto beside = [](double iterations_left) {
    return next({{steady(0.1, 1, 100), steady(0.1, 1, iterations_left)}}, at_work());
  };
  EXPECT_EQ(beside(80)->arm, 0U) << "forecasts err by as much";
  const auto changed = beside(30);
  EXPECT_EQ(changed->arm, 1U);
  EXPECT_EQ(changed->why,
            "30 products expected, 30 to 30, from 1 similar systems; 60 more products without it")
      << "after as long again as the other takes, the first is left";
}

TEST(NextAction, AnArmThatMayNotGoOnIsLeft) {
  Progress progress = at_work();
  progress.arms[0].may_run = false;
  EXPECT_EQ(next({{steady(0.1, 1, 10), steady(0.1, 1, 1000)}}, progress)->arm, 1U);
}

TEST(NextAction, AnArmThatGainsNothingIsLeft) {
  // Which of the others is best differs from system to system.
  const Systems systems{{steady(0.1, 1, 150), steady(0.1, 1, 100), steady(0.1, 1, 200)},
                        {steady(0.1, 1, 150), steady(0.1, 1, 200), steady(0.1, 1, 100)}};
  Progress progress = nothing_seen(3);
  progress.at_work = 0;
  progress.products_spent = 5000;
  Seen& stuck = progress.arms[0];
  stuck.is_built = stuck.is_kept = true;
  stuck.iteration = 1;
  stuck.iterations = 5000;  // and no digits
  EXPECT_NE(next(systems, progress)->arm, 0U);
}

/// An arm that takes 700 products more, and complete factors of 600.
const Systems rent_or_buy{{steady(0.1, 1, 700), steady(600, 3, 2)}};

TEST(NextAction, CompleteFactorsAreBoughtWhenTheSolveHasTakenTheirPrice) {
  Progress progress = at_work();
  progress.products_spent = 300;
  EXPECT_EQ(next(rent_or_buy, progress, 1)->arm, 0U);
  progress.products_spent = 605;
  const auto bought = next(rent_or_buy, progress, 1);
  EXPECT_EQ(bought->arm, 1U);
  EXPECT_EQ(bought->why,
            "the solve has taken 605 products without complete factors, which are expected to take 600");
  EXPECT_EQ(next(rent_or_buy, progress)->arm, 0U) << "of other arms this does not hold";
}

TEST(NextAction, CompleteFactorsAreNotBoughtNearTheEndNorTwice) {
  Progress progress = at_work();
  progress.products_spent = 6000;
  EXPECT_EQ(next({{steady(0.1, 1, 200), steady(600, 3, 2)}}, progress, 1)->arm, 0U);
  Progress failed = progress;
  failed.arms[1].may_run = false;
  EXPECT_EQ(next(rent_or_buy, failed, 1)->arm, 0U);
  Progress built = progress;
  built.arms[1].is_built = true;
  built.arms[1].iteration = 300;  // as dear as all that is left
  EXPECT_EQ(next(rent_or_buy, built, 1)->arm, 0U);
  Progress waiting = progress;
  waiting.at_work.reset();
  EXPECT_NE(next(rent_or_buy, waiting, 1)->why.find("similar systems"), std::string::npos)
      << "nothing is at work that could be rented";
}

/// The diagonal is best in this many of nine systems, and bad in the others; factors are dear.
Systems undecided(int easy) {
  const HandMade::System good{steady(1, 1.5, 60), steady(100, 3, 5)};
  const HandMade::System bad{steady(1, 1.5, 2000), steady(100, 3, 20)};
  Systems systems(9, bad);
  std::fill_n(systems.begin(), easy, good);
  return systems;
}

TEST(NextAction, AnArmThatIsNearlyFreeComesBeforeADearSetUp) {
  const auto tried = next(undecided(5), nothing_seen(2));
  EXPECT_EQ(tried->arm, 0U);
  EXPECT_NE(tried->why.find("; as likely as not better than a set-up of 100 products"), std::string::npos)
      << tried->why;
  EXPECT_EQ(next(undecided(4), nothing_seen(2))->arm, 1U) << "less likely to be better";
  Systems cheap = undecided(5);
  for (HandMade::System& system : cheap) system[1].set_up = 30;
  EXPECT_EQ(next(cheap, nothing_seen(2))->arm, 1U) << "not worth an attempt";
  Systems both_dear = undecided(5);
  for (HandMade::System& system : both_dear) system[0].set_up = 20;
  EXPECT_EQ(next(both_dear, nothing_seen(2))->arm, 1U) << "with a look not nearly free";
}

TEST(NextAction, WhatTheFreeArmShowsDecides) {
  Progress progress = at_work();
  Seen& seen = progress.arms[0];
  seen.iterations = 12;
  seen.iteration = 1.5;
  seen.digits = 12 * 8.0 / 2000;
  seen.digits_halfway = seen.digits / 2;
  EXPECT_EQ(next(undecided(5), progress)->arm, 1U);
  seen.digits = 12 * 8.0 / 60;
  seen.digits_halfway = seen.digits / 2;
  EXPECT_EQ(next(undecided(5), progress)->arm, 0U);
}

TEST(NextAction, AFreeArmIsNotTriedForeverBeforeADearSetUp) {
  // Good and bad systems begin alike.
  Systems systems = undecided(5);
  for (HandMade::System& system : systems)
    std::copy_n(systems[0][0].digits.begin(), 5, system[0].digits.begin());
  Progress progress = nothing_seen(2);
  Seen& seen = progress.arms[0];
  seen.iterations = 4;
  seen.iteration = 1.5;
  seen.digits = 4 * 8.0 / 60;
  seen.digits_halfway = seen.digits / 2;
  EXPECT_EQ(next(systems, progress)->arm, 0U) << "6 products of a price of 100";
  seen.iterations = 12;
  seen.digits = 12 * 8.0 / 60;
  seen.digits_halfway = seen.digits / 2;
  EXPECT_EQ(next(systems, progress)->arm, 1U) << "nothing it has shown speaks for it";
}

TEST(NextAction, WhereNothingIsKnownThereIsNone) {
  const HandMade made({{steady(1, 1, 10)}});
  const Forecast unknown(made.records(), MatrixFacts{}, std::vector<std::optional<std::size_t>>(2));
  EXPECT_FALSE(next_action(unknown.expected(nothing_seen(2)), nothing_seen(2), {}));
  Progress progress = at_work();
  const auto goes_on = next_action(unknown.expected(progress), progress, {});
  ASSERT_TRUE(goes_on);
  EXPECT_EQ(goes_on->arm, 0U);
  Progress all_failed = nothing_seen(2);
  for (Seen& seen : all_failed.arms) seen.may_run = false;
  EXPECT_FALSE(next(rent_or_buy, all_failed, 1));
}

TEST(NextAction, IsAPureFunction) {
  const HandMade made(undecided(5));
  MatrixFacts facts;
  facts.rows = HandMade::rows;
  const Forecast forecast(made.records(), facts, std::vector<std::optional<std::size_t>>{0, 1});
  const auto once = next_action(forecast.expected(nothing_seen(2)), nothing_seen(2), {});
  Progress other = at_work();
  other.arms[0].iterations = 100;
  next_action(forecast.expected(other), other, 1);
  const auto again = next_action(forecast.expected(nothing_seen(2)), nothing_seen(2), {});
  EXPECT_EQ(once->arm, again->arm);
  EXPECT_EQ(once->why, again->why);
}

TEST(IsClearlyLater, HoldsAgainstTheSoonest) {
  const auto outlook = [](double a, double b) { return Outlook({{.mean = a}, {.mean = b}}, {}, {}); };
  EXPECT_TRUE(is_clearly_later(outlook(100, 50), 0));
  EXPECT_FALSE(is_clearly_later(outlook(100, 60), 0));
  EXPECT_FALSE(is_clearly_later(outlook(100, 50), 1));
  constexpr double endless = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(is_clearly_later(outlook(endless, 50), 0));
  EXPECT_FALSE(is_clearly_later(outlook(endless, endless), 0)) << "nothing is known to be sooner";
}

TEST(Looks, BecomeRarer) {
  EXPECT_EQ(next_look(first_look), first_look + 7);
  EXPECT_EQ(next_look(0), 1);
  EXPECT_EQ(next_look(1000), 1501);
  int looks = 0;
  for (int iteration = first_look; iteration < 10'000; iteration = next_look(iteration)) ++looks;
  EXPECT_LT(looks, 20);
}

TEST(MostProducts, AreFarMoreThanExpected) {
  EXPECT_TRUE(std::isinf(most_products(first_look))) << "what is as good as free may take its time";
  EXPECT_GE(most_products(1000), 2 * 1000);
  EXPECT_LE(most_products(1000), 5 * 1000) << "or nothing is ever given up";
}

}  // namespace
}  // namespace ayatori::tuning
