#include "ayatori/tuning/model/forecast.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "recorded.hpp"

namespace ayatori::tuning {
namespace {

using Outcome = ArmRecord::Outcome;
using Kin = std::vector<std::optional<std::size_t>>;

constexpr double endless = std::numeric_limits<double>::infinity();
/// Records keep logarithms of costs in thousandths.
constexpr double rounded = 2e-3;

constexpr std::size_t diagonal = 0;  // the arms of these records
constexpr std::size_t factors = 1;

const HandMade::System easy{steady(1, 1.5, 20), steady(100, 3, 5)};
const HandMade::System hard{steady(1, 1.5, 2000), steady(100, 3, 20)};

MatrixFacts facts_of_rows() {
  MatrixFacts facts;
  facts.rows = HandMade::rows;
  return facts;
}

/// A solve that has seen nothing yet.
Progress beginning(std::size_t arms = 2) {
  Progress progress;
  progress.arms.resize(arms);
  return progress;
}

/// What these systems and this progress make of the two arms.
Outlook expected(const std::vector<HandMade::System>& systems, const Progress& progress) {
  const HandMade made(systems);
  return Forecast(made.records(), facts_of_rows(), Kin{0, 1}).expected(progress);
}

/// The arm with the diagonal has gained this many digits in this many iterations, and is suspended.
Progress after(double iterations, double digits) {
  Progress progress = beginning();
  Seen& seen = progress.arms[diagonal];
  seen.is_built = seen.is_kept = true;
  seen.iterations = iterations;
  seen.digits = digits;
  seen.digits_halfway = digits / 2;
  return progress;
}

TEST(Forecast, OfOneSystemIsWhatWasTakenThere) {
  const Outlook outlook = expected({easy}, beginning());
  ASSERT_EQ(outlook.size(), 2U);
  EXPECT_NEAR(outlook[diagonal].mean, 1 + 1.5 * 20, 31 * rounded);
  EXPECT_NEAR(outlook.range(diagonal).low, 31, 31 * rounded);
  EXPECT_NEAR(outlook.range(diagonal).high, 31, 31 * rounded);
  EXPECT_NEAR(outlook[diagonal].set_up, 1, rounded);
  EXPECT_NEAR(outlook[factors].mean, 100 + 3 * 5, 115 * rounded);
  EXPECT_NEAR(outlook[factors].set_up, 100, 100 * rounded);
  EXPECT_EQ(outlook.soonest(), diagonal);
  EXPECT_EQ(outlook.chance(diagonal, factors), 1);
  EXPECT_EQ(outlook.chance(factors, diagonal), 0);
}

TEST(Forecast, OfSeveralSystemsLiesBetween) {
  const Outlook outlook = expected({easy, easy, hard, easy}, beginning());
  EXPECT_GT(outlook[factors].mean, 115 * (1 + rounded));
  EXPECT_LT(outlook[factors].mean, 160 * (1 - rounded));
  EXPECT_NEAR(outlook.range(factors).low, 115, 115 * rounded);
  EXPECT_NEAR(outlook.range(factors).high, 115, 115 * rounded) << "three in four";
  EXPECT_NEAR(expected({easy, hard, hard, easy}, beginning()).range(factors).high, 160, 160 * rounded);
  EXPECT_NEAR(outlook.chance(diagonal, factors), 0.75, 1e-12);
}

TEST(Forecast, AnArmThatDisappointsIsLeft) {
  const Outlook outlook = expected({easy, hard}, beginning());
  EXPECT_LT(outlook[diagonal].mean, 200) << "not the mean of 31 and 3001, as other arms are there";
  Progress alone = beginning();
  alone.arms[factors].may_run = false;
  EXPECT_GT(expected({easy, hard}, alone)[diagonal].mean, 800);
}

TEST(Forecast, AnArmThatMayNotRunTakesForever) {
  Progress progress = beginning();
  progress.arms[diagonal].may_run = false;
  const Outlook outlook = expected({easy}, progress);
  EXPECT_EQ(outlook[diagonal].mean, endless);
  EXPECT_EQ(outlook.soonest(), factors);
  EXPECT_EQ(outlook.chance(factors, diagonal), 1);
  progress.arms[factors].may_run = false;
  EXPECT_FALSE(expected({easy}, progress).soonest());
}

TEST(Forecast, AnArmOfWhichNothingIsKnownTakesForever) {
  const HandMade made({easy});
  const Forecast without_kin(made.records(), facts_of_rows(), Kin{std::nullopt, 1});
  EXPECT_EQ(without_kin.expected(beginning())[0].mean, endless);
  EXPECT_EQ(without_kin.expected(beginning()).soonest(), factors);
  const Outlook outlook = expected({{easy[diagonal], RecordedArm{}}}, beginning());
  EXPECT_EQ(outlook[factors].mean, endless) << "never tried on similar systems";
  EXPECT_EQ(outlook.soonest(), diagonal);
  const std::vector<HandMade::System> both{{easy[diagonal], RecordedArm{}}, hard};
  EXPECT_LT(expected(both, beginning())[factors].mean, endless);
}

TEST(Forecast, ArmsMayShareARecordAndStandInAnyOrder) {
  const HandMade made({easy});
  const Outlook outlook = Forecast(made.records(), facts_of_rows(), Kin{1, 0, 1}).expected(beginning(3));
  ASSERT_EQ(outlook.size(), 3U);
  EXPECT_NEAR(outlook[1].mean, 31, 31 * rounded);
  EXPECT_EQ(outlook[0].mean, outlook[2].mean);
  EXPECT_NEAR(outlook[0].mean, 115, 115 * rounded);
}

TEST(Forecast, OfALargerSystemTakesTheFactsRows) {
  const HandMade made({easy});
  MatrixFacts larger = facts_of_rows();
  larger.rows *= 1000;
  const Outlook outlook = Forecast(made.records(), larger, Kin{0, 1}).expected(beginning());
  EXPECT_NEAR(outlook[diagonal].mean, 31, 31 * rounded) << "these records grow in nothing";
}

TEST(Forecast, CostsThatHaveBeenSeenReplaceThoseOfRecords) {
  Progress progress = beginning();
  progress.arms[factors].set_up = 90;
  EXPECT_NEAR(expected({easy}, progress)[factors].mean, 90 + 15, 105 * rounded);
  EXPECT_EQ(expected({easy}, progress)[factors].set_up, 90);
  progress.arms[factors].iteration = 6;
  EXPECT_NEAR(expected({easy}, progress)[factors].mean, 90 + 30, 120 * rounded);
  progress.arms[factors].is_built = true;
  EXPECT_NEAR(expected({easy}, progress)[factors].mean, 30, 30 * rounded);
  EXPECT_EQ(expected({easy}, progress)[factors].set_up, 0) << "it is there";
}

TEST(Forecast, ASetUpThatWasGivenUpTakesAsLongAtLeast) {
  Progress progress = beginning();
  progress.arms[factors].set_up_at_least = 300;
  EXPECT_GE(expected({easy}, progress)[factors].set_up, 300);
  EXPECT_LT(expected({easy}, progress)[factors].set_up, 600);
  progress.arms[factors].set_up_at_least = 10;
  EXPECT_NEAR(expected({easy}, progress)[factors].set_up, 100, 100 * rounded);
  progress.arms[factors].set_up_at_least = 300;
  progress.arms[factors].set_up = 350;
  EXPECT_EQ(expected({easy}, progress)[factors].set_up, 350) << "as it was, at last";
}

TEST(Forecast, FollowsTheSystemWhoseHistoryAnArmShows) {
  const std::vector<HandMade::System> both{easy, hard};
  EXPECT_NEAR(expected(both, beginning()).chance(factors, diagonal), 0.5, 1e-12);
  const Outlook slow = expected(both, after(16, 16 * 8.0 / 2000));
  EXPECT_GT(slow.chance(factors, diagonal), 0.99);
  EXPECT_EQ(slow.soonest(), factors);
  EXPECT_NEAR(slow[factors].mean, 160, 0.02 * 160) << "as on the hard system, from x that is worth little";
  const Outlook fast = expected(both, after(16, 16 * 8.0 / 20));
  EXPECT_GT(fast.chance(diagonal, factors), 0.99);
  EXPECT_EQ(fast.soonest(), diagonal);
}

TEST(Forecast, BothHalvesOfAHistoryCount) {
  const std::vector<HandMade::System> both{easy, {steady(1, 1.5, 60), steady(100, 3, 20)}};
  const double fast = 16 * 8.0 / 20;
  const double slow = 16 * 8.0 / 60;
  const double between = std::pow((std::sqrt(fast) + std::sqrt(slow)) / 2, 2);
  const auto iterations_of_factors = [&](double halfway, double digits) {
    Progress progress = after(16, digits);
    progress.arms[diagonal].digits_halfway = halfway;
    progress.arms[diagonal].may_run = false;
    progress.arms[factors].is_built = true;  // their iterations alone tell the systems apart
    return expected(both, progress)[factors].mean;
  };
  EXPECT_GT(iterations_of_factors(slow / 2, slow), 2 * iterations_of_factors(fast / 2, fast));
  EXPECT_GT(iterations_of_factors(slow / 2, between), 2 * iterations_of_factors(fast / 2, between))
      << "where the end is the same, the way there decides";
}

TEST(Forecast, WhatOneArmShowsTellsOfTheOthers) {
  const std::vector<HandMade::System> both{easy, hard};
  Progress progress = after(16, 16 * 8.0 / 2000);
  progress.arms[diagonal].may_run = false;  // it has failed since
  EXPECT_NEAR(expected(both, progress).range(factors).low, 160, 160 * rounded);
  progress.arms[diagonal].digits = 6.4;
  progress.arms[diagonal].digits_halfway = 3.2;
  EXPECT_NEAR(expected(both, progress).range(factors).high, 115, 115 * rounded);
}

TEST(Forecast, LooseTolerancesNeedFewerIterations) {
  Progress progress = beginning();
  const auto mean = [&](double digits) {
    progress.digits_wanted = digits;
    return expected({easy}, progress)[diagonal].mean;
  };
  EXPECT_NEAR(mean(16), 1 + 1.5 * 40, 61 * rounded);
  EXPECT_NEAR(mean(8), 1 + 1.5 * 20, 31 * rounded);
  EXPECT_NEAR(mean(4), 1 + 1.5 * 10, 1);
  EXPECT_LT(mean(0.8), 5);
}

TEST(Forecast, ArmsThatGoOnPayOnlyTheRest) {
  Progress progress = after(10, 4);
  EXPECT_NEAR(expected({easy}, progress)[diagonal].mean, 15, 2) << "of 20 iterations 10 are left";
  progress.arms[diagonal].is_kept = false;
  const double begun_again = expected({easy}, progress)[diagonal].mean;
  EXPECT_NEAR(begun_again, 30, 3) << "the iteration has to gain its pace anew";
  progress.arms[diagonal].is_built = false;
  progress.arms[diagonal].set_up = 5;
  EXPECT_NEAR(expected({easy}, progress)[diagonal].mean, begun_again + 5, 1e-9);
}

TEST(Forecast, AnArmsOwnPaceCounts) {
  const auto rest = [](double halfway) {
    Progress progress = after(12, 4.8);
    progress.arms[diagonal].digits_halfway = halfway;
    return expected({easy}, progress)[diagonal].mean;
  };
  EXPECT_LT(rest(1), rest(2.4)) << "faster and faster";
  EXPECT_GT(rest(4.5), rest(2.4)) << "slower and slower";
}

TEST(Forecast, TellsWhatItIsFrom) {
  const HandMade made({easy, hard, hard}, {"heat", "plate", "plate"});
  const Forecast forecast(made.records(), facts_of_rows(), Kin{0, 1});
  EXPECT_EQ(forecast.expected(beginning()).similar_systems(), 3);
}

}  // namespace
}  // namespace ayatori::tuning
