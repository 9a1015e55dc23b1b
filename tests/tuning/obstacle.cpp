#include "ayatori/tuning/obstacle.hpp"

#include <gtest/gtest.h>

namespace ayatori::tuning {
namespace {

/// Report on a symmetric positive definite matrix that had its residual reduced to 1e-4.
SolveReport report_of(Status status) {
  SolveReport report;
  report.status = status;
  report.relative_residual = 1e-4;
  report.iterations = 100;
  report.facts.rows = report.facts.positive_diagonals = 1000;
  report.facts.symmetric = true;
  report.facts.dominant_rows = 1;
  report.facts.min_abs_diagonal = report.facts.max_abs_diagonal = 1;
  return report;
}

SolveReport saddle_point() {
  SolveReport report = report_of(Status::not_converged);
  report.facts.positive_diagonals = 700;
  report.facts.zero_diagonals = 300;
  return report;
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Obstacle, NothingIsInTheWayOfWhatConvergedOrWasStopped) {
  for (const Status status : {Status::converged, Status::interrupted, Status::least_squares})
    EXPECT_TRUE(find_obstacle(report_of(status), {}).property.empty()) << name_of(status);
}

TEST(Obstacle, ALimitIsNamedWithWhatItWouldTake) {
  const auto iterations = find_obstacle(report_of(Status::not_converged), {.max_iterations = 100});
  EXPECT_EQ(iterations.property, "the limit of 100 iterations");
  EXPECT_TRUE(says(iterations.advice, "2e+02 iterations")) << iterations.advice;
  const auto seconds = find_obstacle(report_of(Status::time_limit), {.time_limit = 1.5});
  EXPECT_EQ(seconds.property, "the time limit of 1.5 s");
  EXPECT_TRUE(says(seconds.advice, "3 s")) << seconds.advice;
  SolveReport hopeless = report_of(Status::time_limit);
  hopeless.relative_residual = 0.9;
  EXPECT_TRUE(says(find_obstacle(hopeless, {.time_limit = 1}).advice, "too little to tell"));
}

TEST(Obstacle, WhatWasForcedIsNamedBeforeTheMatrix) {
  SolveOptions options;
  options.forced.method = "bicgstab";
  options.forced.excluded = {"direct"};
  const auto obstacle = find_obstacle(saddle_point(), options);
  EXPECT_TRUE(says(obstacle.property, "bicgstab alone was allowed, and direct excluded"))
      << obstacle.property;
  EXPECT_TRUE(says(obstacle.property, "300 rows")) << obstacle.property;
  EXPECT_TRUE(says(obstacle.advice, "tuner"));
  options.forced = {.excluded = {"dia"}};
  EXPECT_FALSE(says(find_obstacle(saddle_point(), options).property, "excluded"))
      << "a kernel solves nothing";
}

TEST(Obstacle, PropertiesComeWithWhatWasNotTried) {
  SolveReport report = saddle_point();
  auto obstacle = find_obstacle(report, {});
  EXPECT_TRUE(says(obstacle.property, "saddle point")) << obstacle.property;
  EXPECT_TRUE(says(obstacle.advice, "schur") && says(obstacle.advice, "direct")) << obstacle.advice;
  Trial factors;
  factors.choice.method = "gmres";
  factors.choice.preconditioner = "direct";
  factors.outcome = "failed";
  factors.reason = "would take 30 GB";
  report.trials.push_back(factors);
  obstacle = find_obstacle(report, {});
  EXPECT_TRUE(says(obstacle.property, "would take 30 GB")) << obstacle.property;
  EXPECT_FALSE(says(obstacle.advice, "(direct)")) << obstacle.advice;
}

TEST(Obstacle, NearlySingularAndBadlyScaledMatricesAreSaidToBe) {
  SolveReport report = report_of(Status::not_converged);
  report.condition_estimate = 1e17;
  report.facts.min_abs_diagonal = 1e-20;
  const auto obstacle = find_obstacle(report, {});
  EXPECT_TRUE(says(obstacle.property, "1e+17")) << obstacle.property;
  EXPECT_TRUE(says(obstacle.property, "from 1e-20 to 1e+00")) << obstacle.property;
}

TEST(Obstacle, IndefiniteAndFarFromSymmetricMatricesAreSaidToBe) {
  SolveReport report = report_of(Status::not_converged);
  report.facts.indefinite = true;
  EXPECT_TRUE(says(find_obstacle(report, {}).property, "symmetric and indefinite"));
  report.facts.symmetric = report.facts.indefinite = false;
  report.facts.dominant_rows = 0.25;
  EXPECT_TRUE(says(find_obstacle(report, {}).property, "75 % of its rows"));
}

TEST(Obstacle, RoundingNamesTheToleranceThatIsLeft) {
  const auto obstacle = find_obstacle(report_of(Status::limited_by_rounding), {});
  EXPECT_TRUE(says(obstacle.property, "double precision"));
  EXPECT_TRUE(says(obstacle.advice, "2e-04")) << obstacle.advice;
}

}  // namespace
}  // namespace ayatori::tuning
