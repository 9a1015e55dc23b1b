#include "ayatori/tuning/product/rank_race.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "ayatori/base/memory.hpp"
#include "ayatori/tuning/solver.hpp"
#include "test_matrices.hpp"
#include "world.hpp"

namespace ayatori::tuning {
namespace {

using sparse::TestMatrix;

/// Every row has entries in columns of other ranks.
TestMatrix coupled(std::int64_t n) {
  TestMatrix matrix{"coupled", n, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    matrix.entries.push_back({i, i, 4});
    matrix.entries.push_back({i, (i + n / 2) % n, -1});
    matrix.entries.push_back({i, (i + 1) % n, -1});
  }
  return matrix;
}

/// So that moving costs nothing.
constexpr double forever = std::numeric_limits<double>::infinity();

TEST(RankRace, LongWorkStaysOnAllRanks) {
  const RankRace race = race_ranks(world(), {.work = 1, .exchange = 0.01}, {.iterations = forever});
  EXPECT_EQ(race.offered, world().size());
  EXPECT_EQ(race.ranks, world().size());
  EXPECT_DOUBLE_EQ(race.seconds_of_one, world().size());
}

TEST(RankRace, WhereMessagesTakeLongerOneRankHoldsAllRows) {
  EXPECT_EQ(race_ranks(world(), {.work = 1e-6, .exchange = 1e-5}, {.growth = 0.1}).ranks, 1);
}

TEST(RankRace, TheSlowestRankCounts) {
  const bool is_last = world().rank() == world().size() - 1;
  const RankRace race =
      race_ranks(world(), {.work = is_last ? 1.0 : 0.0, .exchange = 0.2}, {.iterations = forever});
  EXPECT_EQ(race.ranks, 1) << "the others have nothing to do";
}

TEST(RankRace, BlocksThatAreCoupledLoseIterations) {
  if (world().size() != 2) GTEST_SKIP() << "for two ranks";
  const RankTimes mine{.work = 1, .exchange = 0.3};
  EXPECT_EQ(race_ranks(world(), mine, {.iterations = forever, .growth = 0.2}).ranks, 2);
  EXPECT_EQ(race_ranks(world(), mine, {.iterations = forever, .growth = 0.9}).ranks, 1);
}

TEST(RankRace, FewIterationsDoNotPayForMoving) {
  if (world().size() != 2) GTEST_SKIP() << "for two ranks";
  const RankTimes mine{.work = 1, .exchange = 2};
  EXPECT_EQ(race_ranks(world(), mine, {.iterations = 1000}).ranks, 1);
  EXPECT_EQ(race_ranks(world(), mine, {.iterations = 10}).ranks, 2);
}

/// An arm of the list, with this many products to come.
ListedArm arm_of(const char* method, const char* preconditioner, double expected = 1000) {
  return {.choice = {method, preconditioner}, .why = "", .expected = expected};
}

TEST(RankRace, WhatOneCacheDoesNotHoldStays) {
  const std::int64_t rows = 3 * cache_of_core() / 4 / 36;  // parts of half the ranks' share fit
  const auto parts = sparse::split(world(), coupled(2 * rows).distribute(world()));
  const RankRace race = race_ranks(world(), parts, examine(world(), parts), arm_of("cg", "ic"));
  EXPECT_EQ(race.ranks, world().size());
  EXPECT_EQ(race.seconds_of_one > 0, false) << "no question for a race";
}

TEST(RankRace, IterationsAreForeseenByTheArmAndTheRowsThatAreCoupled) {
  const auto parts = sparse::split(world(), coupled(300).distribute(world()));
  const MatrixFacts facts = examine(world(), parts);
  const double of_coupled_rows = world().size() > 1 ? 1 : 0;
  EXPECT_EQ(foresee(world(), parts, facts, arm_of("cg", "ic")).growth, of_coupled_rows);
  EXPECT_EQ(foresee(world(), parts, facts, arm_of("cg", "ic", 42)).iterations, 42);
  for (const char* whole : {"jacobi", "amg", "direct"})
    EXPECT_EQ(foresee(world(), parts, facts, arm_of("gmres", whole)).growth, 0) << whole;
}

TEST(RankRace, MeasuresARealMatrix) {
  const auto parts = sparse::split(world(), coupled(300).distribute(world()));
  const MatrixFacts facts = examine(world(), parts);
  const RankRace race = race_ranks(world(), parts, facts, arm_of("cg", "ic"));
  EXPECT_EQ(race.offered, world().size());
  EXPECT_TRUE(race.ranks == 1 || race.ranks == world().size());
  if (world().size() > 1) {
    EXPECT_GT(race.seconds_of_one, 0);
  }
  EXPECT_EQ(race_ranks(world(), sparse::gather(world(), parts), facts, arm_of("cg", "ic")).ranks,
            world().size())
      << "there is nothing to move";
}

TEST(RankRace, FactsOfGatheredRowsAreThoseOfOneRank) {
  const auto parts = sparse::split(world(), coupled(300).distribute(world()));
  const MatrixFacts gathered = on_one_rank(world(), examine(world(), parts));
  const MatrixFacts expected = examine(world(), sparse::gather(world(), parts));
  EXPECT_EQ(gathered.least_diameter, expected.least_diameter);
  EXPECT_EQ(gathered.bandwidth, expected.bandwidth);
  EXPECT_EQ(gathered.nonzeros, expected.nonzeros);
  EXPECT_EQ(gathered.symmetric, expected.symmetric);
  EXPECT_EQ(gathered.least_dominance, expected.least_dominance);
  EXPECT_EQ(gathered.blocks, expected.blocks) << "ranks without rows have none";
}

TEST(Gathering, MovesTheMatrixAndVectorsThereAndBack) {
  const auto matrix = coupled(50);
  const auto parts = sparse::split(world(), matrix.distribute(world()));
  const Gathering gathering(world(), parts.partition);
  const auto moved = gathering.move(parts);
  EXPECT_EQ(moved->interior.nonzeros(), world().rank() == 0 ? 150 : 0);
  EXPECT_EQ(moved->halo.nonzeros(), 0);

  const auto whole = sparse::test_vector(50, 1);
  const auto mine = sparse::piece(whole, parts.partition.range(world().rank()));
  const auto there = gathering.there(mine);
  EXPECT_EQ(there.size(), world().rank() == 0 ? 50U : 0U);
  Array<double> product(there.size());
  sparse::multiply_reference(world(), *moved, there, product);
  Array<double> back(mine.size());
  gathering.back(product, back);
  const auto expected = sparse::piece(matrix.multiply(whole), parts.partition.range(world().rank()));
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], expected[i], 1e-14);
}

/// What a Solver that may use one rank finds, and what it tells its hooks.
TEST(Gathering, AReplayedSolveOnOneRankIsTheSameAndTellsWhereItIs) {
  const auto matrix = coupled(60);
  const auto parts =
      std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())));
  const Range range = parts->partition.range(world().rank());
  const auto solution = sparse::test_vector(60, 2);
  const auto b = sparse::piece(matrix.multiply(solution), range);
  const auto solved = [&](const SolveOptions& options) {
    Array<double> x(b.size(), 0.0);
    SolveHooks hooks;
    std::size_t told = 0;
    hooks.snapshot = [&](const Snapshot& snapshot) { told = snapshot.x.size(); };
    Solver solver(world(), parts, options);
    SolveReport report = solver.solve(b, x, hooks);
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(told, b.size());
    const auto expected = sparse::piece(solution, range);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-7);
    return report;
  };
  SolveOptions options;
  options.may_use_one_rank = true;
  solved(options);

  options.forced.method = "bicgstab";
  options.forced.preconditioner = "jacobi";
  options.forced.kernel = "csr";
  options.may_use_one_rank = false;
  Script script = solved(options).script;
  EXPECT_EQ(script.ranks, 0);
  script.ranks = 1;
  script.decisions.erase(script.decisions.begin() + 1, script.decisions.end());  // the arm, and no halo
  options.replay = std::make_shared<const Script>(script);
  const auto report = solved(options);
  EXPECT_EQ(report.ranks.ranks, 1);
  EXPECT_EQ(report.ranks.offered, world().size());
}

}  // namespace
}  // namespace ayatori::tuning
