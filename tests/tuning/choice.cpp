#include "ayatori/tuning/policy/choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/preconditioner.hpp"

namespace ayatori::tuning {
namespace {

MatrixFacts spd_facts() {
  MatrixFacts facts;
  facts.rows = 1000;
  facts.symmetric = true;
  facts.positive_diagonals = 1000;
  facts.constant_quotient = 1;
  return facts;
}

MatrixFacts unsymmetric_facts() {
  MatrixFacts facts;
  facts.rows = 1000;
  facts.positive_diagonals = 1000;
  return facts;
}

/// Method and preconditioner of the first rung.
std::string begins_with(const MatrixFacts& facts, const Forced& forced = {}) {
  const Choice choice = make_ladder(facts, forced, 1000).front().choice;
  return choice.method + " + " + choice.preconditioner;
}

TEST(Ladder, StartsWithCgForWhatLooksDefinite) {
  EXPECT_EQ(make_ladder(spd_facts(), {}, 1000).front().choice.method, "cg");
  auto negative = spd_facts();
  std::swap(negative.positive_diagonals, negative.negative_diagonals);
  EXPECT_EQ(make_ladder(negative, {}, 1000).front().choice.method, "cg");
}

TEST(Ladder, MultigridComesBeforeFactorsForDiffusion) {
  const auto place = [](double diffusive_rows) {
    MatrixFacts facts = spd_facts();
    facts.diffusive_rows = diffusive_rows;
    const auto ladder = make_ladder(facts, {}, 1000);
    const auto find = [&](std::string_view name) {
      return std::ranges::find_if(ladder,
                                  [&](const Rung& rung) { return rung.choice.preconditioner == name; });
    };
    return find("amg") - find("block-ilu0");
  };
  EXPECT_LT(place(1), 0);
  EXPECT_GT(place(0.2), 0);
}

TEST(Ladder, BeginsWithMultigridWhereEvenTheEasiestDiffusionWouldPay) {
  const auto first = [](std::int64_t rows, double diffusive_rows, double least_diameter = 0,
                        double least_dominance = 0, std::int64_t longest_row = 7) {
    MatrixFacts facts = spd_facts();
    facts.rows = facts.positive_diagonals = rows;
    facts.nonzeros = 7 * rows;
    facts.max_row_nonzeros = longest_row;
    facts.diffusive_rows = diffusive_rows;
    facts.least_diameter = least_diameter;
    facts.least_dominance = least_dominance;
    return make_ladder(facts, {}, 1000).front().choice.preconditioner;
  };
  EXPECT_EQ(first(1000, 1), "jacobi");
  EXPECT_EQ(first(10'000'000, 1), "amg");
  EXPECT_EQ(first(10'000'000, 0.2), "jacobi") << "stiffness, maybe";
  EXPECT_EQ(first(8'000, 1), "jacobi");
  EXPECT_EQ(first(8'000, 1, 300), "amg") << "a square takes more steps to cross than a cube";
  EXPECT_EQ(first(10'000'000, 1, 0, 0, 500), "jacobi") << "a circuit, maybe";
  EXPECT_EQ(first(10'000'000, 1, 0, 0.1), "jacobi") << "the diagonal bounds the condition number";
}

TEST(Cost, MostOfMultigridsSetUpGoesByRows) {
  MatrixFacts facts = spd_facts();
  const Choice multigrid{.method = "cg", .preconditioner = "amg"};
  const Choice factors{.method = "cg", .preconditioner = "block-ilu0"};
  facts.rows = 1'000'000'000;  // all levels but the first are nothing beside it
  facts.nonzeros = 7 * facts.rows;
  const double of_short_rows = predict_cost(multigrid, facts).setup;
  const double factors_of_short_rows = predict_cost(factors, facts).setup;
  EXPECT_NEAR(of_short_rows, solvers::preconditioner("amg").setup_products, 0.01);
  facts.nonzeros = 81 * facts.rows;
  EXPECT_LT(predict_cost(multigrid, facts).setup, of_short_rows / 2);
  EXPECT_EQ(predict_cost(factors, facts).setup, factors_of_short_rows);
  facts.rows = 100;
  facts.nonzeros = 700;
  EXPECT_GT(predict_cost(multigrid, facts).setup, 10 * of_short_rows) << "levels cost something";
}

TEST(Cost, IterationsOfMultigridAndCompleteFactorsAreKnownBeforehand) {
  MatrixFacts facts = spd_facts();
  facts.diffusive_rows = 1;
  const Choice multigrid{.method = "cg", .preconditioner = "amg"};
  const auto few = expected_iterations(multigrid, facts, 5);
  const auto many = expected_iterations(multigrid, facts, 20);
  ASSERT_TRUE(few && many);
  EXPECT_DOUBLE_EQ(*many, 4 * *few);
  EXPECT_FALSE(expected_iterations({.method = "cg", .preconditioner = "jacobi"}, facts, 5));
  EXPECT_EQ(expected_iterations({.method = "gmres", .preconditioner = "direct"}, facts, 20), 2);
  EXPECT_FALSE(expected_iterations({.method = "bicgstab", .preconditioner = "amg"}, facts, 5));
  EXPECT_FALSE(expected_iterations(multigrid, unsymmetric_facts(), 5)) << "convection may turn it useless";
  facts.diffusive_rows = 0.5;
  EXPECT_FALSE(expected_iterations(multigrid, facts, 5)) << "aggregates may fit nothing";
}

std::vector<std::string> favourites(const MatrixFacts& facts) {
  std::vector<std::string> names;
  for (const Rung& rung : make_ladder(facts, {}, 1000))
    if (rung.favourite) names.push_back(rung.choice.preconditioner);
  return names;
}

TEST(Ladder, FactorsAreFavouritesTheCheapestFirst) {
  using Names = std::vector<std::string>;
  auto facts = unsymmetric_facts();
  facts.rows = facts.positive_diagonals = 100'000;
  EXPECT_EQ(make_ladder(facts, {}, 1000).front().choice.preconditioner, "block-ilu0");
  EXPECT_EQ(favourites(facts), (Names{"block-ilu0", "ilut"}));
  facts.strongly_dominant_rows = 0.8;
  EXPECT_EQ(make_ladder(facts, {}, 1000).front().choice.preconditioner, "jacobi");
  EXPECT_EQ(favourites(facts), (Names{"block-ilu0", "ilut"}));
  facts.strongly_dominant_rows = 0;
  facts.zero_diagonals = 1;
  EXPECT_EQ(make_ladder(facts, {}, 1000).front().choice.preconditioner, "ilut")
      << "a diagonal with zeros is of no use";
  EXPECT_EQ(favourites(facts), Names{"ilut"}) << "nor are pivots from it";
  facts.zero_diagonals = 0;
  facts.least_dominance = 0.5;
  EXPECT_EQ(make_ladder(facts, {}, 1000).front().choice.preconditioner, "jacobi")
      << "no eigenvalue is near 0";
}

TEST(Ladder, BeginsWithFactorsWhereSmallEigenvaluesAreKnown) {
  const auto first = [](double quotient, double strongly_dominant = 0, double mean_row_of_entries = 12) {
    MatrixFacts facts = spd_facts();
    facts.nonzeros = 10 * facts.rows;
    facts.constant_quotient = quotient;
    facts.strongly_dominant_rows = strongly_dominant;
    facts.mean_row_of_entries = mean_row_of_entries;
    const Choice choice = make_ladder(facts, {}, 1000).front().choice;
    return choice.method + " + " + choice.preconditioner;
  };
  EXPECT_EQ(first(1.5), "cg + jacobi") << "a mass matrix, maybe";
  EXPECT_EQ(first(0.1), "cg + ic");
  EXPECT_EQ(first(-0.1), "cg + ic") << "it may be indefinite, which CG shows";
  EXPECT_EQ(first(0.1, 0, 40), "cg + block-ilu0") << "long rows fill up";
  EXPECT_EQ(first(0.1, 0.9), "cg + jacobi") << "hardly more than its diagonal";
}

TEST(Ladder, FactorsOfAZeroDiagonalAreNoFavourite) {
  using Names = std::vector<std::string>;
  MatrixFacts facts;
  facts.rows = 1000;
  facts.symmetric = true;
  facts.zero_diagonals = 300;
  facts.positive_diagonals = 700;
  const auto without_direct = [](Names names) {
    std::erase(names, "direct");
    return names;
  };
  EXPECT_EQ(without_direct(favourites(facts)), Names{"block-ilu0"});
  facts.zero_diagonals = 1000;
  facts.positive_diagonals = 0;
  EXPECT_EQ(without_direct(favourites(facts)), Names{});
}

TEST(Ladder, CompleteFactorsOfSmallMatricesAreTheLastFavourite) {
  if (std::ranges::none_of(solvers::preconditioners(),
                           [](const auto& type) { return type.name == "direct"; }))
    GTEST_SKIP() << "built without MUMPS";
  using Names = std::vector<std::string>;
  auto facts = unsymmetric_facts();
  facts.nonzeros = 10 * facts.rows;
  EXPECT_EQ(favourites(facts), (Names{"block-ilu0", "ilut", "direct"}));
  facts.zero_diagonals = 500;
  EXPECT_EQ(make_ladder(facts, {}, 1000).front().choice.preconditioner, "direct")
      << "no diagonal to begin with";
  facts.rows = 10'000'000;
  facts.zero_diagonals = 5'000'000;
  EXPECT_EQ(make_ladder(facts, {}, 1000).front().choice.preconditioner, "ilut") << "they would be dear";
  EXPECT_EQ(favourites(facts), Names{"ilut"});
  EXPECT_EQ(favourites(spd_facts()), Names{"ic"}) << "CG needs none";
}

TEST(Ladder, BeginsWithFactorsInANarrowBand) {
  const auto first = [](MatrixFacts facts, std::int64_t band, double least_dominance = 0,
                        const Forced& forced = {}) {
    facts.nonzeros = 5 * facts.rows;
    facts.bandwidth = band;
    facts.least_dominance = least_dominance;
    return begins_with(facts, forced);
  };
  EXPECT_EQ(first(spd_facts(), 2), "cg + ic");
  EXPECT_EQ(first(unsymmetric_facts(), 2), "gmres + ilu");
  EXPECT_EQ(first(unsymmetric_facts(), 20), "bicgstab + block-ilu0");
  EXPECT_EQ(first(spd_facts(), 2, 0.5), "cg + jacobi") << "19 iterations at most";
  auto indefinite = spd_facts();
  indefinite.indefinite = true;
  EXPECT_EQ(first(indefinite, 2), "gmres + ilu");
  EXPECT_EQ(first(indefinite, 2, 0, {.preconditioner = "none"}), "minres + none")
      << "not the factors' method";
  EXPECT_EQ(first(indefinite, 2, 0, {.method = "minres"}), "minres + none") << "the factors are not definite";
  auto dense = unsymmetric_facts();
  dense.rows = 5000;
  dense.nonzeros = dense.rows * dense.rows;
  dense.bandwidth = dense.rows - 1;
  EXPECT_EQ(make_ladder(dense, {}, 1000).front().choice.preconditioner, "block-ilu0")
      << "a band, but a wide one";
}

TEST(Cost, CompleteFactorsCostNoMoreThanTheirBand) {
  if (std::ranges::none_of(solvers::preconditioners(),
                           [](const auto& type) { return type.name == "direct"; }))
    GTEST_SKIP() << "built without MUMPS";
  const Choice complete{.method = "gmres", .preconditioner = "direct"};
  auto facts = unsymmetric_facts();
  facts.nonzeros = 5 * facts.rows;
  const double of_few_rows = predict_cost(complete, facts).setup;
  facts.rows *= 1'000'000;
  facts.nonzeros *= 1'000'000;
  EXPECT_EQ(predict_cost(complete, facts).setup, solvers::preconditioner("direct").setup_products);
  facts.bandwidth = 3;
  EXPECT_LT(predict_cost(complete, facts).setup, of_few_rows);
}

TEST(Ladder, LongRowsFillUpDefiniteMatricesToo) {
  using Names = std::vector<std::string>;
  auto facts = spd_facts();
  facts.nonzeros = 10 * facts.rows;
  facts.mean_row_of_entries = 12;
  EXPECT_EQ(favourites(facts), Names{"ic"});
  facts.mean_row_of_entries = 40;
  EXPECT_EQ(favourites(facts), Names{"block-ilu0"});
  for (const Rung& rung : make_ladder(spd_facts(), {.method = "cg"}, 1000))
    EXPECT_NE(rung.choice.preconditioner, "ilut") << "it is not symmetric";
}

TEST(Ladder, IterationsAreKnownOfDiffusionOnly) {
  auto facts = spd_facts();
  facts.least_diameter = 100;
  EXPECT_EQ(least_iterations(facts), 0);
  facts.diffusive_rows = 1;
  EXPECT_GT(least_iterations(facts), 100) << "to cross the domain";
  facts.least_dominance = 0.5;
  EXPECT_LT(least_iterations(facts), 40) << "the condition number is 4 at most";
}

TEST(Ladder, BeginsWithMultigridForConvectionThatTakesManySteps) {
  auto facts = unsymmetric_facts();
  facts.rows = facts.positive_diagonals = 8'000;
  facts.nonzeros = 5 * facts.rows;
  facts.diffusive_rows = facts.dominant_rows = 1;
  EXPECT_NE(make_ladder(facts, {}, 1000).front().choice.preconditioner, "amg");
  facts.least_diameter = 300;
  const auto ladder = make_ladder(facts, {}, 1000);
  EXPECT_EQ(ladder.front().choice.method, "bicgstab");
  EXPECT_EQ(ladder.front().choice.preconditioner, "amg");
  facts.asymmetry = 0.5;
  const auto strong = make_ladder(facts, {}, 1000);
  EXPECT_EQ(strong[0].choice.preconditioner, "ilut") << "convection prevails";
  EXPECT_EQ(strong[1].choice.preconditioner, "amg");
}

/// Points of the seven-point matrix of a cube with so many along an edge.
MatrixFacts cube_facts(MatrixFacts facts, std::int64_t edge) {
  facts.rows = facts.positive_diagonals = edge * edge * edge;
  facts.nonzeros = 7 * facts.rows;
  facts.mean_row_of_entries = 7;
  facts.max_row_nonzeros = 7;
  facts.diffusive_rows = facts.dominant_rows = 1;
  facts.constant_quotient = 1.0 / static_cast<double>(edge);
  facts.least_diameter = static_cast<double>(edge);
  facts.min_abs_diagonal = facts.max_abs_diagonal = 6;
  facts.dropped_fill = 0.16;
  return facts;
}

TEST(Ladder, FactorsWithoutFillComeBeforeMultigridOnEvenMeshesThatAreNotLarge) {
  EXPECT_EQ(begins_with(cube_facts(spd_facts(), 40)), "cg + block-ilu0");
  EXPECT_EQ(begins_with(cube_facts(spd_facts(), 100)), "cg + amg");
  auto flow = cube_facts(unsymmetric_facts(), 40);
  flow.asymmetry = 0.3;
  EXPECT_EQ(begins_with(flow), "bicgstab + block-ilu0");
  flow.asymmetry = 0.01;
  EXPECT_EQ(begins_with(flow), "bicgstab + amg") << "hardly any convection";
  EXPECT_EQ(begins_with(cube_facts(flow, 100)), "bicgstab + amg");
  EXPECT_EQ(make_ladder(cube_facts(spd_facts(), 40), {}, 1000)[1].choice.preconditioner, "amg")
      << "which is next";

  auto small = cube_facts(unsymmetric_facts(), 20);
  EXPECT_EQ(begins_with(small), "bicgstab + block-ilu0") << "multigrid does not pay";
  for (const Rung& rung : make_ladder(small, {}, 1000))
    EXPECT_FALSE(rung.favourite && rung.choice.preconditioner == "ilut") << "fill is dear";
  small.least_diameter = 3;
  EXPECT_EQ(begins_with(small), "bicgstab + ssor") << "if it is a mesh, it is no even one";

  auto facts = cube_facts(spd_facts(), 200);
  facts.dropped_fill = 0.002;
  EXPECT_EQ(begins_with(facts), "cg + block-ilu0") << "lines that are hardly coupled";
  facts.blocks = 2;
  EXPECT_EQ(begins_with(facts), "cg + amg") << "some of which are cut";
  facts = cube_facts(spd_facts(), 40);
  facts.max_abs_diagonal = 1000;
  EXPECT_EQ(begins_with(facts), "cg + amg") << "coefficients jump";
  facts = cube_facts(spd_facts(), 40);
  facts.least_diameter = 3;
  EXPECT_EQ(begins_with(facts), "cg + amg") << "not numbered as it lies in space, if it is a mesh";
}

TEST(Ladder, UnevenRowsBeginWithWhatIsLarge) {
  auto circuit = unsymmetric_facts();
  circuit.nonzeros = 5 * circuit.rows;
  circuit.mean_row_of_entries = 50;
  EXPECT_EQ(begins_with(circuit), "bicgstab + ilut");
  circuit.mean_row_of_entries = 5000;
  EXPECT_EQ(begins_with(circuit), "bicgstab + jacobi") << "links of pages: a long row is no long column";
  circuit.mean_row_of_entries = 6;
  EXPECT_EQ(begins_with(circuit), "bicgstab + block-ilu0");
}

TEST(Ladder, SweepsComeFirstWhereTheDiagonalDominatesAndNoSmallEigenvalueIsInSight) {
  auto facts = unsymmetric_facts();
  facts.nonzeros = 5 * facts.rows;
  facts.dominant_rows = 0.94;
  facts.constant_quotient = 0.3;
  EXPECT_EQ(begins_with(facts), "bicgstab + ssor");
  EXPECT_FALSE(make_ladder(facts, {}, 1000)[1].favourite) << "factors without fill save no iterations";
  facts.constant_quotient = 0.001;
  EXPECT_EQ(begins_with(facts), "bicgstab + block-ilu0");
  facts.constant_quotient = 0.3;
  facts.strongly_dominant_rows = 0.9;
  EXPECT_EQ(begins_with(facts), "bicgstab + jacobi") << "which needs few iterations, too";
  facts.strongly_dominant_rows = 0;
  facts.zero_diagonals = 1;
  facts.positive_diagonals -= 1;
  EXPECT_EQ(begins_with(facts), "bicgstab + ilut");
  facts = unsymmetric_facts();
  facts.constant_quotient = 0.3;
  EXPECT_EQ(begins_with(facts), "bicgstab + block-ilu0");
}

TEST(Ladder, FullBlocksSpeakForTheDiagonal) {
  auto facts = spd_facts();
  facts.constant_quotient = 0.05;
  EXPECT_EQ(begins_with(facts), "cg + ic");
  facts.block_size = 3;
  const auto ladder = make_ladder(facts, {}, 1000);
  EXPECT_EQ(ladder.front().choice.preconditioner, "jacobi");
  for (const Rung& rung : ladder) EXPECT_FALSE(rung.favourite) << rung.choice.preconditioner;

  facts.constant_quotient = 1;  // unknowns of several kinds
  const auto mixed = make_ladder(facts, {}, 1000);
  EXPECT_TRUE(std::ranges::any_of(mixed, &Rung::favourite));

  auto diffusion = facts;
  diffusion.diffusive_rows = 1;
  EXPECT_FALSE(is_diffusive(diffusion));
  diffusion.block_size = 1;
  EXPECT_TRUE(is_diffusive(diffusion));
}

TEST(Ladder, OneLevelOfFillIsTooMuchForLongRows) {
  auto facts = spd_facts();
  facts.constant_quotient = 0.01;
  facts.nonzeros = 30 * facts.rows;
  facts.mean_row_of_entries = 35;
  EXPECT_EQ(make_ladder(facts, {}, 1000).front().choice.preconditioner, "ic");
  facts.nonzeros = 70 * facts.rows;
  facts.mean_row_of_entries = 72;
  EXPECT_EQ(make_ladder(facts, {}, 1000).front().choice.preconditioner, "block-ilu0");
}

TEST(Ladder, StartsWithMinresForSymmetricIndefinite) {
  auto facts = spd_facts();
  facts.positive_diagonals = 600;
  facts.negative_diagonals = 400;
  EXPECT_EQ(make_ladder(facts, {}, 1000).front().choice.method, "minres");
  auto shown = spd_facts();
  shown.indefinite = true;
  EXPECT_EQ(make_ladder(shown, {}, 1000).front().choice.method, "minres");
}

TEST(Ladder, NeverUsesSymmetricMethodsForUnsymmetricMatrices) {
  for (const Rung& rung : make_ladder(unsymmetric_facts(), {}, 1000)) {
    EXPECT_FALSE(solvers::method(rung.choice.method).needs_symmetric) << rung.choice.method;
  }
}

TEST(Ladder, OfTheOthersOnlyCompleteFactorsChallengeCg) {
  for (const Rung& rung : make_ladder(spd_facts(), {}, 1000)) {
    const bool may_challenge = rung.choice.method == "cg" || rung.choice.preconditioner == "direct";
    EXPECT_EQ(rung.last_resort, !may_challenge) << describe(rung.choice);
  }
}

TEST(Ladder, HasNoRungTwice) {
  for (const auto& facts : {spd_facts(), unsymmetric_facts()}) {
    for (const int longest : {30, 100, 480, 5000}) {
      const auto ladder = make_ladder(facts, {}, longest);
      for (std::size_t i = 0; i < ladder.size(); ++i) {
        EXPECT_FALSE(ladder[i].why.empty());
        EXPECT_LE(ladder[i].choice.restart, longest);
        for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(ladder[i].choice == ladder[j].choice);
      }
    }
  }
}

TEST(Ladder, ObeysEverythingForced) {
  Forced forced;
  forced.method = "gmres";
  forced.preconditioner = "none";
  forced.restart = 30;
  forced.orthogonalization = "mgs";
  forced.kernel = "csr-reference";
  forced.halo = "allgather";
  const auto ladder = make_ladder(spd_facts(), forced, 1000);
  ASSERT_EQ(ladder.size(), 1U);
  EXPECT_EQ(ladder[0].choice, (Choice{"gmres", "none", 30, "mgs", "csr-reference", "allgather"}));
}

TEST(Ladder, VariesOnlyWhatIsLeftOpen) {
  Forced forced;
  forced.preconditioner = "jacobi";
  const auto ladder = make_ladder(unsymmetric_facts(), forced, 1000);
  EXPECT_GT(ladder.size(), 2U);
  for (const Rung& rung : ladder) EXPECT_EQ(rung.choice.preconditioner, "jacobi");
}

TEST(Ladder, AForcedRestartMeansAMethodThatRestarts) {
  Forced forced;
  forced.restart = 17;
  for (const Rung& rung : make_ladder(spd_facts(), forced, 1000)) EXPECT_EQ(rung.choice.restart, 17);
}

TEST(Forced, ContradictionsAndUnknownNamesAreErrors) {
  Forced forced;
  forced.method = "cg";
  forced.restart = 30;
  EXPECT_THROW(check(forced), InputError);
  forced.restart.reset();
  forced.orthogonalization = "cgs";
  EXPECT_THROW(check(forced), InputError);
  EXPECT_THROW(check({.method = "no-such"}), InputError);
  EXPECT_NO_THROW(check({.method = "lsmr"}));
  EXPECT_NO_THROW(check({.method = "lsmr", .preconditioner = "none"}));
  EXPECT_NO_THROW(check({.excluded = {"lsmr"}}));
  EXPECT_THROW(check({.method = "lsmr", .preconditioner = "jacobi"}), InputError);
  EXPECT_THROW(check({.method = "lsmr", .restart = 5}), InputError);
  EXPECT_THROW(check({.method = "lsmr", .orthogonalization = "mgs"}), InputError);
  EXPECT_THROW(check({.method = "lsmr", .excluded = {"lsmr"}}), InputError);
  EXPECT_THROW(check({.preconditioner = "no-such"}), InputError);
  EXPECT_THROW(check({.restart = 0}), InputError);
  EXPECT_THROW(check({.orthogonalization = "no-such"}), InputError);
  EXPECT_THROW(check({.kernel = "no-such"}), InputError);
  EXPECT_THROW(check({.halo = "no-such"}), InputError);
  EXPECT_NO_THROW(check({.method = "gmres", .restart = 5, .orthogonalization = "ircgs"}));
}

}  // namespace
}  // namespace ayatori::tuning
