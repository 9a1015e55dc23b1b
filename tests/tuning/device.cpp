#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/gpu/device.hpp"
#include "ayatori/tuning/memory/experience.hpp"
#include "ayatori/tuning/policy/arms.hpp"
#include "ayatori/tuning/policy/choice_json.hpp"
#include "ayatori/tuning/run/device_place.hpp"
#include "solved.hpp"

// Solves whose iterations may run on a device; the processor stands in for one.

namespace ayatori::tuning {
namespace {

/// As measured on a large GPU, docs/measured/gpu.md.
machine::DeviceFigure fast_device() {
  return {
      .name = "fast", .open_seconds = 0.2, .copy = 4e12, .in = 3e10, .out = 3e10, .step = 1e-6, .wait = 1e-5};
}

MatrixFacts facts_of(std::int64_t rows) {
  MatrixFacts facts;
  facts.rows = facts.positive_diagonals = rows;
  facts.nonzeros = 7 * rows;
  facts.symmetric = facts.pattern_symmetric = true;
  return facts;
}

TEST(Device, SolvesAndProvesWhatItIsForcedTo) {
  for (const bool symmetric : {true, false}) {
    TestMatrix matrix = anisotropic_matrix(20);
    for (sparse::Entry& entry : matrix.entries)
      if (!symmetric && entry.column > entry.row) entry.value *= 0.7;
    SolveOptions options;
    options.device = "host";
    const Solved solved(matrix, 1, options);
    expect_solved(matrix, solved);
    EXPECT_EQ(solved.report.choice.device, "host") << words_of(solved.report);
    for (const Trial& trial : solved.report.trials) EXPECT_EQ(trial.choice.device, "host");
    EXPECT_NE(describe(solved.report.choice).find(" on host"), std::string::npos);
  }
}

TEST(Device, IsObeyedTogetherWithTheNumerics) {
  const TestMatrix matrix = anisotropic_matrix(20);
  SolveOptions options;
  options.device = "host";
  options.forced.method = "bicgstab";
  options.forced.preconditioner = "chebyshev";
  const Solved solved(matrix, 1, options);
  expect_solved(matrix, solved);
  EXPECT_EQ(describe(solved.report.choice), "bicgstab + chebyshev on host");

  options.forced.preconditioner = "ilu";
  try {
    const Solved none(matrix, 1, options);
    FAIL() << "no factors run there";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("--device host"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("chebyshev"), std::string::npos) << error.what();
  }
}

TEST(Device, LeftAloneIsUsedOnlyIfItsPriceIsKnown) {
  const TestMatrix matrix = anisotropic_matrix(16);
  SolveOptions options;
  options.device = "auto";
  const Solved unknown(matrix, 1, options);
  expect_solved(matrix, unknown);
  for (const Trial& trial : unknown.report.trials) EXPECT_EQ(trial.choice.device, "");

  // To open it alone would take longer than the whole solve.
  auto profile = std::make_shared<machine::Profile>();
  profile->device = fast_device();
  options.profile = profile;
  const Solved small(matrix, 1, options);
  expect_solved(matrix, small);
  for (const Trial& trial : small.report.trials) EXPECT_EQ(trial.choice.device, "") << words_of(small.report);
}

TEST(Device, ThatIsGoneIsSaidAndTheProcessorSolves) {
  if (gpu::device_type("cuda").why_not().empty()) GTEST_SKIP() << "there is a device";
  if (world().size() > 1) GTEST_SKIP() << "of one rank";
  const TestMatrix matrix = anisotropic_matrix(60);
  auto profile = std::make_shared<machine::Profile>();
  profile->device = fast_device();
  profile->device->open_seconds = 0;  // so that it is worth a try
  profile->device->step = 1e-12;
  profile->device->wait = 1e-12;
  profile->device->in = profile->device->out = profile->device->copy = 1e15;
  SolveOptions options;
  options.device = "auto";
  options.profile = profile;
  const Solved solved(matrix, 1, options);
  expect_solved(matrix, solved);
  EXPECT_EQ(solved.report.choice.device, "");
  EXPECT_TRUE(std::ranges::any_of(solved.report.events, [](const Event& event) {
    return event.kind == "failure" && event.text.find("no device") != std::string::npos;
  })) << words_of(solved.report);
}

TEST(Device, PriceIsThatOfBytesAndSteps) {
  const DevicePlace place("host", fast_device());
  const Choice choice{.method = "cg", .preconditioner = "jacobi", .restart = 0};
  const auto price = [&](std::int64_t rows) {
    const double unit = static_cast<double>(12 * 7 * rows + 20 * rows) / 1e10;  // 10 GB/s here
    return place.price(choice, facts_of(rows), unit);
  };
  EXPECT_LT(price(10'000'000).pace, 0.01) << "hundreds of times the bandwidth";
  EXPECT_LT(price(10'000'000).each, 0.001);
  EXPECT_GT(price(1000).each, 1) << "launches alone take longer than products here";
  EXPECT_GT(price(1000).carried, 1000) << "and so does opening it";
  const Elsewhere unknown = DevicePlace("host", std::nullopt).price(choice, facts_of(1000), 1e-6);
  EXPECT_EQ(unknown.pace, 1);
  EXPECT_EQ(unknown.carried, 0);
}

TEST(Device, LongSolvesAreExpectedToEndSoonerThere) {
  const auto arms = with_device(list_arms(facts_of(5'000'000), {}, 100, 1e-8), "cuda", false, 1);
  const DevicePlace place("cuda", fast_device());
  const double unit = 0.06;  // seconds of a product here
  Progress nothing_yet{.digits_wanted = 8, .at_work = {}, .arms = std::vector<Seen>(arms.size())};
  for (std::size_t i = 0; i < arms.size(); ++i)
    if (!arms[i].choice.device.empty())
      nothing_yet.arms[i].elsewhere = place.price(arms[i].choice, facts_of(5'000'000), unit);
  const Outlook outlook =
      Forecast(Records::shipped(), facts_of(5'000'000), kin_of(arms)).expected(nothing_yet);
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (arms[i].choice.device.empty() || arms[i].choice.preconditioner != "jacobi") continue;
    const auto here = std::ranges::find_if(arms, [&](const ListedArm& arm) {
      return arm.choice.device.empty() && same_numerics(arm.choice, arms[i].choice);
    });
    ASSERT_NE(here, arms.end());
    EXPECT_LT(outlook[i].to_the_end, 0.5 * outlook[static_cast<std::size_t>(here - arms.begin())].to_the_end);
  }
}

TEST(Device, ArmsAreThoseOfItsLists) {
  const auto here = list_arms(facts_of(1000), {}, 100, 1e-8);
  const auto both = with_device(here, "cuda", false, 1);
  ASSERT_GT(both.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) EXPECT_EQ(both[i].choice, here[i].choice);
  for (std::size_t i = here.size(); i < both.size(); ++i) {
    EXPECT_EQ(both[i].choice.device, "cuda");
    EXPECT_NE(both[i].choice.preconditioner, "ic");
    EXPECT_TRUE(both[i].kin.has_value());
  }
  for (const ListedArm& arm : with_device(here, "cuda", true, 2)) {
    EXPECT_EQ(arm.choice.device, "cuda");
    EXPECT_NE(arm.choice.preconditioner, "amg") << "of one rank";
  }
}

TEST(Device, IsInTheJsonOfAChoiceIfThereIsOne) {
  Choice choice{.method = "cg", .preconditioner = "jacobi", .restart = 0};
  EXPECT_FALSE(to_json(choice).contains("device"));
  EXPECT_EQ(choice_from_json(to_json(choice)), choice);
  choice.device = "cuda";
  EXPECT_EQ(choice_from_json(to_json(choice)), choice);
  auto unknown = to_json(choice);
  unknown["device"] = "abacus";
  EXPECT_THROW(choice_from_json(unknown), InputError);
}

}  // namespace
}  // namespace ayatori::tuning
