#include "ayatori/tuning/policy/arms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/least_squares.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/tuning/model/records.hpp"

namespace ayatori::tuning {
namespace {

constexpr int long_restart = 1000;

MatrixFacts spd_facts() {
  MatrixFacts facts;
  facts.rows = facts.positive_diagonals = 1000;
  facts.nonzeros = 5000;
  facts.symmetric = facts.pattern_symmetric = true;
  facts.constant_quotient = 1;
  return facts;
}

MatrixFacts indefinite_facts() {
  MatrixFacts facts = spd_facts();
  facts.positive_diagonals = 600;
  facts.negative_diagonals = 400;
  return facts;
}

MatrixFacts unsymmetric_facts() {
  MatrixFacts facts = spd_facts();
  facts.symmetric = false;
  facts.asymmetry = 0.5;
  return facts;
}

MatrixFacts complex_facts() {
  MatrixFacts facts = unsymmetric_facts();
  facts.complex_form = true;
  return facts;
}

MatrixFacts complex_symmetric_facts() {
  MatrixFacts facts = complex_facts();
  facts.complex_symmetric = true;
  return facts;
}

std::vector<MatrixFacts> all_kinds() {
  return {spd_facts(), indefinite_facts(), unsymmetric_facts(), complex_facts(), complex_symmetric_facts()};
}

std::vector<ListedArm> arms_of(const MatrixFacts& facts, const Forced& forced = {},
                               int longest = long_restart, double rtol = 1e-8) {
  return list_arms(facts, forced, longest, rtol);
}

std::set<std::string> methods_of(const std::vector<ListedArm>& arms) {
  std::set<std::string> names;
  for (const ListedArm& arm : arms) names.insert(arm.choice.method);
  return names;
}

TEST(Arms, BeginWithWhatSuitsTheMatrix) {
  EXPECT_TRUE(solvers::method(arms_of(spd_facts()).front().choice.method).needs_symmetric);
  MatrixFacts negative = spd_facts();
  std::swap(negative.positive_diagonals, negative.negative_diagonals);
  EXPECT_TRUE(methods_of(arms_of(negative)).contains("cg")) << "of the other sign, which is turned";
  EXPECT_TRUE(methods_of(arms_of(indefinite_facts())).contains("minres"));
}

TEST(Arms, MethodsForSymmetricMatricesAreForNoOthers) {
  for (const ListedArm& arm : arms_of(unsymmetric_facts()))
    EXPECT_FALSE(solvers::method(arm.choice.method).needs_symmetric) << describe(arm.choice);
}

TEST(Arms, MethodsForDefiniteMatricesAreForNoOthers) {
  MatrixFacts shown = spd_facts();
  shown.indefinite = true;  // by a direction that CG has met
  for (const MatrixFacts& facts : {indefinite_facts(), shown})
    for (const ListedArm& arm : arms_of(facts))
      EXPECT_FALSE(solvers::method(arm.choice.method).needs_definite) << describe(arm.choice);
}

TEST(Arms, SymmetricMethodsHaveSymmetricPreconditioners) {
  for (const MatrixFacts& facts : all_kinds())
    for (const ListedArm& arm : arms_of(facts)) {
      if (!solvers::method(arm.choice.method).needs_symmetric_preconditioner) continue;
      EXPECT_TRUE(solvers::preconditioner(arm.choice.preconditioner).symmetric) << describe(arm.choice);
    }
  for (const ListedArm& arm : arms_of(spd_facts(), {.method = "cg"}))
    EXPECT_NE(arm.choice.preconditioner, "ilut") << "though the method is forced";
  for (const MatrixFacts& facts : all_kinds())
    for (const ListedArm& arm : arms_of(facts, {.preconditioner = "ilut"}))
      EXPECT_FALSE(solvers::method(arm.choice.method).needs_symmetric_preconditioner) << describe(arm.choice);
}

TEST(Arms, WhereCgMayBeUsedMethodsForAnyMatrixAreNotOfRecords) {
  for (const ListedArm& arm : arms_of(spd_facts())) {
    if (!arm.kin || arm.last_resort || solvers::method(arm.choice.method).needs_symmetric) continue;
    EXPECT_FALSE(solvers::preconditioner(arm.choice.preconditioner).symmetric) << describe(arm.choice);
  }
}

TEST(Arms, MatricesOfSaddlePointsMayBeSolvedByTheirBlocks) {
  const auto has_schur = [](const MatrixFacts& facts) {
    return std::ranges::any_of(arms_of(facts), [](const ListedArm& arm) {
      return arm.choice.preconditioner == "schur" && arm.kin && std::isfinite(arm.expected);
    });
  };
  MatrixFacts saddle = indefinite_facts();
  EXPECT_TRUE(has_schur(saddle));
  saddle.negative_diagonals = 0;
  saddle.zero_diagonals = 400;
  EXPECT_TRUE(has_schur(saddle));
  saddle.positive_diagonals = 400;  // fewer than half have a sign
  EXPECT_FALSE(has_schur(saddle));
  EXPECT_FALSE(has_schur(spd_facts()));
  EXPECT_FALSE(has_schur(unsymmetric_facts()));
}

TEST(Arms, LastResortsStandLastWithTheLongestBasis) {
  for (const MatrixFacts& facts : all_kinds()) {
    const auto arms = arms_of(facts);
    EXPECT_TRUE(std::ranges::is_sorted(arms, {}, &ListedArm::last_resort));
    EXPECT_FALSE(arms.front().last_resort);
    const auto& last = arms.back();
    ASSERT_TRUE(last.last_resort);
    EXPECT_EQ(last.choice, (Choice{"gmres", "none", long_restart, "ircgs", "", ""}));
  }
}

TEST(Arms, TheExpectedWinnerIsFirstAndWhatNothingIsKnownOfBehindTheOthers) {
  for (const MatrixFacts& facts : all_kinds()) {
    auto arms = arms_of(facts);
    std::erase_if(arms, &ListedArm::last_resort);
    ASSERT_GT(arms.size(), 2U);
    EXPECT_TRUE(std::isfinite(arms.front().expected));
    EXPECT_GT(arms.front().expected, 0);
    EXPECT_TRUE(std::ranges::is_sorted(arms.begin() + 1, arms.end(), {}, &ListedArm::expected));
    for (const ListedArm& arm : arms)
      EXPECT_TRUE(arm.kin || std::isinf(arm.expected)) << describe(arm.choice);
  }
}

TEST(Arms, LooseTolerancesAreExpectedToTakeLess) {
  const auto tight = arms_of(unsymmetric_facts(), {}, long_restart, 1e-12);
  const auto loose = arms_of(unsymmetric_facts(), {}, long_restart, 1e-2);
  ASSERT_EQ(tight.size(), loose.size());
  for (const ListedArm& arm : loose) {
    const auto same = std::ranges::find(tight, arm.choice, &ListedArm::choice);
    ASSERT_NE(same, tight.end()) << describe(arm.choice);
    if (std::isfinite(arm.expected)) {
      EXPECT_LT(arm.expected, same->expected) << describe(arm.choice);
    }
  }
  EXPECT_DOUBLE_EQ(digits_of(1e-12), 12);
}

TEST(Arms, NoneStandsTwiceOrWithoutAReasonOrBeyondTheLongestRestart) {
  for (const MatrixFacts& facts : all_kinds())
    for (const int longest : {5, 30, 100, 480, 5000}) {
      const auto arms = arms_of(facts, {}, longest);
      for (std::size_t i = 0; i < arms.size(); ++i) {
        EXPECT_FALSE(arms[i].why.empty()) << describe(arms[i].choice);
        EXPECT_LE(arms[i].choice.restart, longest);
        EXPECT_EQ(arms[i].choice.restart > 0, solvers::method(arms[i].choice.method).restarts);
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(arms[i].choice, arms[j].choice);
      }
    }
}

TEST(Arms, KinAreTheRecordsOfTheSameNumerics) {
  const auto arms = arms_of(unsymmetric_facts());
  const auto kin = kin_of(arms);
  const auto names = Records::shipped().arms();
  ASSERT_EQ(kin.size(), arms.size());
  int known = 0;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (arms[i].last_resort) {
      EXPECT_FALSE(kin[i]) << "records tell when others are sooner, not when all have failed";
    }
    if (!kin[i]) continue;
    ++known;
    EXPECT_TRUE(names[*kin[i]].starts_with(arms[i].choice.method)) << names[*kin[i]];
    EXPECT_TRUE(names[*kin[i]].ends_with(" + " + arms[i].choice.preconditioner)) << names[*kin[i]];
  }
  EXPECT_GT(known, 5);
}

TEST(Arms, OfComplexSystemsHaveComplexCoefficients) {
  for (const auto& facts : {complex_facts(), complex_symmetric_facts()}) {
    const auto methods = methods_of(arms_of(facts));
    for (const std::string& name : methods) EXPECT_TRUE(solvers::method(name).takes_complex) << name;
    EXPECT_EQ(methods.contains("cocg"), facts.complex_symmetric);
  }
  const auto arms = arms_of(complex_symmetric_facts());
  const auto names = Records::shipped(complex_symmetric_facts()).arms();
  for (const ListedArm& arm : arms) {
    if (arm.choice.method != "cocg") continue;
    ASSERT_TRUE(arm.kin);
    EXPECT_EQ(names[*arm.kin], "cocg + " + arm.choice.preconditioner);
  }
}

TEST(Arms, ObeyWhatIsForced) {
  const std::vector<Forced> all{
      {.method = "gmres"},
      {.method = "cg"},
      {.method = "fgmres", .preconditioner = "jacobi"},
      {.preconditioner = "neumann"},
      {.preconditioner = "ssor", .restart = 17},
      {.restart = 17},
      {.orthogonalization = "mgs"},
      {.method = "gmres", .orthogonalization = "ircgs"},
      {.kernel = "csr-reference", .halo = "allgather"},
  };
  for (const MatrixFacts& facts : all_kinds())
    for (std::size_t i = 0; i < all.size(); ++i) {
      SCOPED_TRACE(i);
      const Forced& forced = all[i];
      const auto arms = arms_of(facts, forced);
      ASSERT_FALSE(arms.empty());
      for (const ListedArm& arm : arms) {
        const Choice& choice = arm.choice;
        EXPECT_EQ(choice.method, forced.method.value_or(choice.method));
        EXPECT_EQ(choice.preconditioner, forced.preconditioner.value_or(choice.preconditioner));
        EXPECT_EQ(choice.restart, forced.restart.value_or(choice.restart));
        EXPECT_EQ(choice.orthogonalization, forced.orthogonalization.value_or(choice.orthogonalization));
        EXPECT_EQ(choice.kernel, forced.kernel.value_or(""));
        EXPECT_EQ(choice.halo, forced.halo.value_or(""));
      }
    }
}

TEST(Arms, AreOneWhereEverythingIsForced) {
  const Forced forced{.method = "gmres",
                      .preconditioner = "none",
                      .restart = 30,
                      .orthogonalization = "mgs",
                      .kernel = "csr-reference",
                      .halo = "allgather"};
  const auto arms = arms_of(spd_facts(), forced);
  ASSERT_EQ(arms.size(), 1U);
  EXPECT_EQ(arms[0].choice, (Choice{"gmres", "none", 30, "mgs", "csr-reference", "allgather"}));
}

TEST(Arms, VaryWhatIsLeftOpen) {
  const auto arms = arms_of(unsymmetric_facts(), {.preconditioner = "jacobi"});
  EXPECT_GT(methods_of(arms).size(), 2U);
  std::set<std::string> preconditioners;
  for (const ListedArm& arm : arms_of(spd_facts(), {.method = "cg"}))
    preconditioners.insert(arm.choice.preconditioner);
  EXPECT_GT(preconditioners.size(), 3U);
}

TEST(Arms, AForcedRestartMeansMethodsThatRestart) {
  constexpr int short_basis = 10;
  for (const MatrixFacts& facts : all_kinds()) {
    for (const ListedArm& arm : arms_of(facts, {.restart = 17}, short_basis)) {
      EXPECT_TRUE(solvers::method(arm.choice.method).restarts) << describe(arm.choice);
      EXPECT_EQ(arm.choice.restart, 17) << "though longer than what is chosen unasked";
    }
    for (const ListedArm& arm : arms_of(facts, {.orthogonalization = "mgs"}))
      EXPECT_TRUE(solvers::method(arm.choice.method).restarts) << describe(arm.choice);
  }
}

TEST(Arms, MethodsWithABuiltInOrthogonalizationHaveIt) {
  for (const auto& method : solvers::methods()) {
    if (method.only_orthogonalization.empty()) continue;
    for (const ListedArm& arm : arms_of(unsymmetric_facts(), {.method = std::string(method.name)}))
      EXPECT_EQ(arm.choice.orthogonalization, method.only_orthogonalization) << describe(arm.choice);
  }
}

TEST(Arms, OfWhatIsExcludedThereAreNone) {
  std::vector<std::string> names;
  for (const auto& method : solvers::methods()) names.emplace_back(method.name);
  for (const auto& preconditioner : solvers::preconditioners()) names.emplace_back(preconditioner.name);
  for (const auto& other : solvers::orthogonalizations()) names.emplace_back(other.name);
  int excluded = 0;
  for (const MatrixFacts& facts : all_kinds())
    for (const std::string& name : names) {
      const auto uses = [&](const ListedArm& arm) {
        return arm.choice.method == name || arm.choice.preconditioner == name ||
               arm.choice.orthogonalization == name;
      };
      excluded += std::ranges::any_of(arms_of(facts), uses) ? 1 : 0;
      EXPECT_TRUE(std::ranges::none_of(arms_of(facts, {.excluded = {name}}), uses)) << name;
    }
  EXPECT_GT(excluded, 20) << "or this shows nothing";
  auto without_cgs = arms_of(unsymmetric_facts(), {.excluded = {"cgs"}});
  std::erase_if(without_cgs, [](const ListedArm& arm) { return arm.last_resort; });
  EXPECT_TRUE(methods_of(without_cgs).contains("gmres")) << "with another orthogonalization";
}

TEST(Arms, NothingLeftIsAnError) {
  Forced forced;
  for (const auto& method : solvers::methods()) forced.excluded.emplace_back(method.name);
  for (const MatrixFacts& facts : all_kinds()) EXPECT_THROW(arms_of(facts, forced), InputError);
  forced = {.method = "gmres"};
  for (const auto& other : solvers::orthogonalizations()) forced.excluded.emplace_back(other.name);
  EXPECT_THROW(arms_of(spd_facts(), forced), InputError);
  forced = {};
  for (const auto& preconditioner : solvers::preconditioners())
    forced.excluded.emplace_back(preconditioner.name);
  EXPECT_THROW(arms_of(spd_facts(), forced), InputError);
  forced.excluded.erase(forced.excluded.begin());
  EXPECT_NO_THROW(arms_of(spd_facts(), forced)) << "one is enough";
}

TEST(Arms, LeastSquaresAreForcedAlone) {
  for (const MatrixFacts& facts : all_kinds()) {
    const auto arms = arms_of(facts, {.method = std::string(solvers::least_squares_name)});
    ASSERT_EQ(arms.size(), 1U);
    EXPECT_TRUE(is_least_squares(arms[0].choice));
    for (const ListedArm& arm : arms_of(facts)) EXPECT_FALSE(is_least_squares(arm.choice));
  }
}

}  // namespace
}  // namespace ayatori::tuning
