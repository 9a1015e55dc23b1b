#include "ayatori/tuning/policy/choice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ayatori/base/error.hpp"

namespace ayatori::tuning {
namespace {

TEST(Choice, IsDescribedByItsNumerics) {
  EXPECT_EQ(describe({.method = "cg", .preconditioner = "block-ilu0", .restart = 0, .kernel = "csr"}),
            "cg + block-ilu0");
  EXPECT_EQ(describe({.method = "gmres", .preconditioner = "jacobi", .orthogonalization = "mgs"}),
            "gmres(30) + jacobi, orthogonalization mgs");
  EXPECT_EQ(describe(least_squares_choice()), "lsmr + none");
}

TEST(Choice, KnowsItsKind) {
  EXPECT_TRUE(is_least_squares(least_squares_choice()));
  EXPECT_FALSE(is_least_squares({.method = "cg", .preconditioner = "none"}));
  EXPECT_TRUE(uses_diagonal_at_most({.method = "cg", .preconditioner = "none"}));
  EXPECT_TRUE(uses_diagonal_at_most({.method = "cg", .preconditioner = "jacobi"}));
  EXPECT_FALSE(uses_diagonal_at_most({.method = "cg", .preconditioner = "ssor"}));
  EXPECT_TRUE(uses_complete_factors({.method = "gmres", .preconditioner = "direct"}));
  EXPECT_FALSE(uses_complete_factors({.method = "gmres", .preconditioner = "ilut"}));
}

TEST(Facts, DominanceBoundsTheIterationsOfCg) {
  for (const double least_dominance : {0.5, 0.01, 1e-6}) {
    MatrixFacts facts;
    facts.least_dominance = least_dominance;
    const double root = std::sqrt(2 / least_dominance);  // root of the condition number
    const double iterations = iterations_by_dominance(facts);
    const auto bound = [&](double k) { return 2 * std::pow((root - 1) / (root + 1), k); };
    EXPECT_LE(bound(iterations), 1e-8);
    EXPECT_GT(bound(0.9 * iterations), 1e-8);
  }
  EXPECT_EQ(iterations_by_dominance({}), std::numeric_limits<double>::infinity());
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
  EXPECT_THROW(check({.preconditioner = "no-such"}), InputError);
  EXPECT_THROW(check({.restart = 0}), InputError);
  EXPECT_THROW(check({.orthogonalization = "no-such"}), InputError);
  EXPECT_THROW(check({.kernel = "no-such"}), InputError);
  EXPECT_THROW(check({.halo = "no-such"}), InputError);
  EXPECT_THROW(check({.method = "refined-gmres", .orthogonalization = "mgs"}), InputError) << "built in";
  EXPECT_NO_THROW(check({.method = "refined-gmres", .orthogonalization = "ircgs"}));
  EXPECT_NO_THROW(check({.method = "gmres", .restart = 5, .orthogonalization = "ircgs"}));
  EXPECT_NO_THROW(check({}));
}

TEST(Forced, LeastSquaresTakeNothingElse) {
  EXPECT_NO_THROW(check({.method = "lsmr"}));
  EXPECT_NO_THROW(check({.method = "lsmr", .preconditioner = "none"}));
  EXPECT_THROW(check({.method = "lsmr", .preconditioner = "jacobi"}), InputError);
  EXPECT_THROW(check({.method = "lsmr", .restart = 5}), InputError);
  EXPECT_THROW(check({.method = "lsmr", .orthogonalization = "mgs"}), InputError);
}

TEST(Forced, OnlyWhatExistsAndIsNotForcedCanBeExcluded) {
  for (const char* name : {"lsmr", "cg", "amg", "mgs", "csr", "allgather", "p2p-irecv-first+overlap"})
    EXPECT_NO_THROW(check({.excluded = {name}})) << name;
  EXPECT_THROW(check({.excluded = {"no-such"}}), InputError);
  EXPECT_THROW(check({.method = "lsmr", .excluded = {"lsmr"}}), InputError);
  EXPECT_THROW(check({.preconditioner = "amg", .excluded = {"ic", "amg"}}), InputError);
  EXPECT_TRUE((Forced{.excluded = {"amg"}}).excludes("amg"));
  EXPECT_FALSE((Forced{.excluded = {"amg"}}).excludes("boomeramg"));
}

}  // namespace
}  // namespace ayatori::tuning
