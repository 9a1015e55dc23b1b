#include "ayatori/tuning/history.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace {

using ayatori::tuning::Choice;
using ayatori::tuning::History;

TEST(History, KeepsArmsApartInTheOrderOfTheirFirstSteps) {
  History history;
  const Choice jacobi{.method = "cg", .preconditioner = "jacobi"};
  const Choice ilu{.method = "cg", .preconditioner = "block-ilu0"};
  history.add(jacobi, 1, 0.5);
  history.add(ilu, 2, 0.25);
  history.add(jacobi, 3, 0.125);
  const auto json = history.to_json();
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["choice"], describe(jacobi));
  EXPECT_EQ(json[0]["iterations"], (nlohmann::ordered_json{1, 3}));
  EXPECT_EQ(json[0]["relative_residuals"], (nlohmann::ordered_json{0.5, 0.125}));
  EXPECT_EQ(json[1]["iterations"], (nlohmann::ordered_json{2}));
}

TEST(History, IsThinnedOutEvenlyAndKeepsTheLastStep) {
  History history;
  const Choice choice{.method = "cg", .preconditioner = "none"};
  constexpr int steps = 12345;
  for (int i = 1; i <= steps; ++i) history.add(choice, i, 1.0 / i);
  const auto json = history.to_json();
  const auto iterations = json[0]["iterations"].get<std::vector<int>>();
  EXPECT_LE(iterations.size(), History::most_points + 1);
  EXPECT_GE(iterations.size(), History::most_points / 3);
  EXPECT_EQ(iterations.front(), 1);
  EXPECT_EQ(iterations.back(), steps);
  const int stride = iterations[1] - iterations[0];
  for (std::size_t i = 1; i + 1 < iterations.size(); ++i)
    EXPECT_EQ(iterations[i] - iterations[i - 1], stride);
}

TEST(History, OfNoStepsIsEmpty) {
  EXPECT_TRUE(History().to_json().empty());
}

}  // namespace
