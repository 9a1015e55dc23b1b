#include "ayatori/tuning/model/records.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "recorded.hpp"

namespace ayatori::tuning {
namespace {

using Outcome = ArmRecord::Outcome;

constexpr std::array<std::string_view, 2> two_arms{"cg + jacobi", "cg + ic"};
constexpr std::array<std::string_view, 3> three_families{"heat", "heat", "plate"};

constexpr int log_rows = 0;  // two of the features
constexpr int symmetric = 4;
constexpr std::int16_t threshold = 7000;

/// Two arms, three systems, two trees. Each system has a number with two bits: which arms are known.
std::vector<std::int16_t> small_numbers() {
  std::vector<std::int16_t> numbers{2, 3, feature_count, 2, grid_points};
  const auto add = [&](std::initializer_list<std::int16_t> more) {
    numbers.insert(numbers.end(), more.begin(), more.end());
  };
  /// Logarithms of set-up, iteration and iterations with the outcome, then digits.
  const auto add_arm = [&](std::initializer_list<std::int16_t> costs,
                           const std::array<double, grid_points>& digits) {
    add(costs);
    append_digits(numbers, digits);
  };
  // By rows: systems 0 and 1 have few, 2 has many.
  const std::int16_t two = two_in_one(no_feature, 2);
  const std::int16_t one = two_in_one(no_feature, 1);
  add({3, two_in_one(log_rows, 2), threshold, two, 0, one, 2, 3, 0, 1, 2});
  // By symmetry: 1 and 2 are unsymmetric, 0 is symmetric.
  add({3, two_in_one(symmetric, 2), 500, two, 1, one, 0, 3, 0, 1, 2});
  // Powers of set-ups, then of iterations.
  add({0, 1000, 333, 500});
  add({6908, 0b11});
  add_arm({0, 693, iterations_of(Outcome::solved, 4605)}, {0.1, 0.2, 0.5, 1, 2, 4, 8, 8, 8, 8, 8, 8});
  add_arm({3000, 1099, iterations_of(Outcome::failed, 9000)},
          {0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.4, 0.4, 0.5, 0.5, 0.6, 0.6});
  add({6215, 0b01});
  add_arm({100, 693, iterations_of(Outcome::solved, 3912)}, {0.2, 0.4, 1, 2, 4, 8, 8, 8, 8, 8, 8, 8});
  add({9210, 0b10});
  add_arm({4000, 1099, iterations_of(Outcome::solved, 1609)}, {2, 4, 7, 8, 8, 8, 8, 8, 8, 8, 8, 8});
  return numbers;
}

Features features(std::int16_t rows, bool is_symmetric) {
  Features found{};
  found[log_rows] = rows;
  found[symmetric] = is_symmetric ? 1000 : 0;
  return found;
}

std::vector<std::size_t> numbers_of(const std::vector<SimilarSystem>& systems) {
  std::vector<std::size_t> numbers;
  for (const SimilarSystem& system : systems) numbers.push_back(system.number);
  return numbers;
}

double sum_of_weights(const std::vector<SimilarSystem>& systems) {
  double sum = 0;
  for (const SimilarSystem& system : systems) sum += system.weight;
  return sum;
}

TEST(Records, SystemsAreAlikeAsFarAsTheyShareLeaves) {
  const auto numbers = small_numbers();
  const Records records(numbers, two_arms, three_families);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records.family(2), "plate");
  EXPECT_EQ(records.arms()[1], "cg + ic");

  const auto small = records.similar(features(threshold, false), 3);  // a value at the threshold goes left
  ASSERT_EQ(numbers_of(small), (std::vector<std::size_t>{1, 0, 2})) << "of two as alike the first one";
  EXPECT_DOUBLE_EQ(small[0].weight, 0.5);
  EXPECT_DOUBLE_EQ(small[1].weight, 0.25);
  EXPECT_DOUBLE_EQ(small[2].weight, 0.25);

  const auto small_symmetric = records.similar(features(threshold, true), 3);
  ASSERT_EQ(numbers_of(small_symmetric), (std::vector<std::size_t>{0, 1}));
  EXPECT_DOUBLE_EQ(small_symmetric[0].weight, 0.75);

  const auto large = records.similar(features(threshold + 1, false), 3);
  ASSERT_EQ(numbers_of(large), (std::vector<std::size_t>{2, 1}));
  EXPECT_DOUBLE_EQ(large[0].weight, 0.75);
}

TEST(Records, WeightsOfTheMostAlikeSumUpToOne) {
  const auto numbers = small_numbers();
  const Records records(numbers, two_arms, three_families);
  const auto two = records.similar(features(threshold, false), 2);
  ASSERT_EQ(numbers_of(two), (std::vector<std::size_t>{1, 0}));
  EXPECT_DOUBLE_EQ(two[0].weight, 2.0 / 3);
  EXPECT_DOUBLE_EQ(sum_of_weights(two), 1);
  EXPECT_EQ(records.similar(features(threshold, false), 1).front().weight, 1);
}

TEST(Records, TellWhatAnArmTook) {
  const auto numbers = small_numbers();
  const Records records(numbers, two_arms, three_families);
  const ArmRecord jacobi = records.record(0, 0, 1000);
  EXPECT_EQ(jacobi.outcome, Outcome::solved);
  EXPECT_NEAR(std::exp(jacobi.log_set_up), 1, 1e-3);
  EXPECT_NEAR(std::exp(jacobi.log_iteration), 2, 2e-3);
  EXPECT_NEAR(jacobi.iterations, 100, 0.1);
  EXPECT_NEAR(jacobi.stretch, 1, 1e-3);
  EXPECT_FLOAT_EQ(jacobi.digits[0], 0.1F);
  EXPECT_FLOAT_EQ(jacobi.digits[5], 4);
  EXPECT_FLOAT_EQ(jacobi.digits[11], 8);
  EXPECT_EQ(records.record(0, 1, 1000).outcome, Outcome::failed);
  EXPECT_NEAR(records.record(2, 1, 10'000).iterations, 5, 0.01) << "the last numbers of all";
}

TEST(Records, OfOtherSizesGrowByTheirPowersOfTheRows) {
  const auto numbers = small_numbers();
  const Records records(numbers, two_arms, three_families);
  const ArmRecord same = records.record(0, 0, 1000);
  const ArmRecord larger = records.record(0, 0, 8000);
  EXPECT_DOUBLE_EQ(std::exp(larger.log_set_up), std::exp(same.log_set_up)) << "power 0";
  EXPECT_DOUBLE_EQ(std::exp(larger.log_iteration), std::exp(same.log_iteration))
      << "in products, which grow themselves";
  EXPECT_NEAR(larger.iterations / same.iterations, 2, 5e-3) << "power 1/3";
  EXPECT_NEAR(larger.stretch, 2, 5e-3);
  EXPECT_EQ(larger.digits, same.digits);
  EXPECT_NEAR(larger.digits_after(64), same.digits_after(32), 0.01) << "it takes twice as many iterations";
  const double one = std::exp(records.record(2, 1, 10'000).log_set_up);
  EXPECT_NEAR(std::exp(records.record(2, 1, 1000).log_set_up), one / 10, 1e-3 * one)
      << "power 1, and fewer rows";
}

TEST(Records, OfWhatWasNeverTriedTellNothing) {
  const auto numbers = small_numbers();
  const Records records(numbers, two_arms, three_families);
  const ArmRecord unknown = records.record(1, 1, 1000);
  EXPECT_FALSE(unknown.is_known());
  EXPECT_EQ(unknown.iterations, 0);
  EXPECT_TRUE(records.record(0, 1, 1000).is_known()) << "a failure is known";
}

TEST(Records, NumbersThatDoNotFitThrow) {
  const auto fitting = small_numbers();
  ASSERT_NO_THROW(Records(fitting, two_arms, three_families));
  const auto with = [&](std::size_t place, std::int16_t value) {
    auto numbers = fitting;
    numbers[place] = value;
    return numbers;
  };
  EXPECT_THROW(Records({}, two_arms, three_families), InputError);
  EXPECT_THROW(Records(std::span(fitting).first(4), two_arms, three_families), InputError);
  EXPECT_THROW(Records(std::span(fitting).first(fitting.size() - 1), two_arms, three_families), InputError);
  auto longer = fitting;
  longer.push_back(0);
  EXPECT_THROW(Records(longer, two_arms, three_families), InputError);
  EXPECT_THROW(Records(fitting, std::span(two_arms).first(1), three_families), InputError);
  EXPECT_THROW(Records(fitting, two_arms, std::span(three_families).first(2)), InputError);
  EXPECT_THROW(Records(with(2, feature_count - 1), two_arms, three_families), InputError);
  EXPECT_THROW(Records(with(3, 1), two_arms, three_families), InputError) << "a tree is left over";
  EXPECT_THROW(Records(with(4, grid_points + 1), two_arms, three_families), InputError);
  constexpr std::size_t nodes_of_first_tree = 5;
  EXPECT_THROW(Records(with(nodes_of_first_tree, 2), two_arms, three_families), InputError);
  EXPECT_THROW(Records(with(nodes_of_first_tree, 30'000), two_arms, three_families), InputError)
      << "it ends behind the last number";
}

ArmRecord known_record(Outcome outcome = Outcome::solved) {
  return {.outcome = outcome, .iterations = 700, .digits = {0.1F, 0.2F, 0.5F, 1, 1.5F, 2, 3, 4, 5, 7, 8, 8}};
}

TEST(ArmRecord, DigitsLieBetweenThoseKept) {
  const ArmRecord record = known_record();
  for (std::size_t i = 0; i + 1 < grid_points; ++i)
    EXPECT_FLOAT_EQ(static_cast<float>(record.digits_after(std::exp2(i))), record.digits[i]) << i;
  EXPECT_NEAR(record.digits_after(std::exp2(2.5)), 0.75, 1e-6);
  EXPECT_NEAR(record.digits_after(std::exp2(8.25)), 5.5, 1e-6);
  EXPECT_FLOAT_EQ(static_cast<float>(record.digits_after(0.5)), 0.1F) << "before the first";
  EXPECT_NEAR(record.digits_after(1e9), 8, 1e-6) << "behind the last";
}

TEST(ArmRecord, IterationsAreTheInverseOfDigits) {
  const ArmRecord record = known_record();
  EXPECT_DOUBLE_EQ(record.iterations_to(1), 8);
  EXPECT_NEAR(record.iterations_to(0.75), std::exp2(2.5), 1e-6);
  for (const double digits : {0.15, 0.4, 1.2, 3.9, 6.0})
    EXPECT_NEAR(record.digits_after(record.iterations_to(digits)), digits, 1e-6);
  EXPECT_EQ(record.iterations_to(0), 1) << "the first may be enough";
  EXPECT_EQ(record.iterations_to(0.1F), 1);
  EXPECT_EQ(record.iterations_to(7.9), 700) << "no more than to the end";
}

TEST(ArmRecord, AnotherSizeStretchesIterations) {
  const ArmRecord same = known_record();
  ArmRecord larger = same;
  larger.stretch = 3;
  larger.iterations *= 3;
  for (const double iterations : {1.0, 6.0, 100.0, 900.0})
    EXPECT_NEAR(larger.digits_after(3 * iterations), same.digits_after(iterations), 1e-6);
  for (const double digits : {0.0, 0.4, 3.9, 7.9})
    EXPECT_NEAR(larger.iterations_to(digits), 3 * same.iterations_to(digits), 1e-6);
  EXPECT_FLOAT_EQ(static_cast<float>(larger.digits_after(2)), 0.1F) << "less than the first kept one";
}

TEST(ArmRecord, WhatAFailureHasNeverReachedItNeverReaches) {
  ArmRecord failed = known_record(Outcome::failed);
  failed.digits[10] = failed.digits[11] = 7;
  EXPECT_EQ(failed.iterations_to(7.5), std::numeric_limits<double>::infinity());
  EXPECT_LT(failed.iterations_to(7), 700);
  ArmRecord slow = known_record();  // solved in more iterations than are kept
  slow.digits[10] = slow.digits[11] = 7;
  slow.iterations = 5000;
  EXPECT_EQ(slow.iterations_to(7.5), 5000);
}

/// "gmres(100) + ilut": "gmres" and "ilut".
std::pair<std::string_view, std::string_view> parts_of(std::string_view arm) {
  const auto plus = arm.find(" + ");
  return {arm.substr(0, std::min(plus, arm.find('('))), arm.substr(plus + 3)};
}

MatrixFacts complex_facts() {
  MatrixFacts facts;
  facts.rows = 2'000;
  facts.nonzeros = 20'000;
  facts.complex_form = facts.complex_symmetric = true;
  return facts;
}

/// Records of real systems, and of complex ones.
class ShippedRecords : public testing::TestWithParam<bool> {
 protected:
  const Records& shipped() const { return Records::shipped(GetParam() ? complex_facts() : MatrixFacts{}); }
};
INSTANTIATE_TEST_SUITE_P(RealAndComplex, ShippedRecords, testing::Bool());

TEST(ShippedRecordsOf, HermitianSystemsAreThoseOfRealOnes) {
  MatrixFacts hermitian = complex_facts();
  hermitian.symmetric = true;
  EXPECT_EQ(&Records::shipped(hermitian), &Records::shipped());
  EXPECT_NE(&Records::shipped(complex_facts()), &Records::shipped());
}

TEST_P(ShippedRecords, AreOfMethodsAndPreconditionersThatExist) {
  const Records& records = shipped();
  ASSERT_GT(records.arms().size(), 0U);
  for (const std::string_view arm : records.arms()) {
    ASSERT_NE(arm.find(" + "), std::string_view::npos) << arm;
    const auto [method, preconditioner] = parts_of(arm);
    EXPECT_NO_THROW(solvers::method(method)) << arm;
    EXPECT_TRUE(!GetParam() || solvers::method(method).takes_complex) << arm;
    if (preconditioner == "boomeramg" || preconditioner == "direct") continue;  // done by libraries
    EXPECT_NO_THROW(solvers::preconditioner(preconditioner)) << arm;
  }
}

TEST_P(ShippedRecords, HoldFiniteCostsAndEveryArm) {
  const Records& records = shipped();
  ASSERT_GT(records.size(), 0U);
  for (std::size_t arm = 0; arm < records.arms().size(); ++arm) {
    int known = 0;
    for (std::size_t system = 0; system < records.size(); ++system) {
      const ArmRecord record = records.record(system, arm, 1e6);
      ASSERT_LE(record.outcome, Outcome::failed) << "system " << system << ", arm " << arm;
      if (!record.is_known()) continue;
      ++known;
      const bool is_sound = std::isfinite(std::exp(record.log_set_up)) && std::exp(record.log_set_up) > 0 &&
                            std::exp(record.log_iteration) > 0 && std::isfinite(record.iterations) &&
                            record.iterations > 0 && record.stretch > 0;
      ASSERT_TRUE(is_sound) << "system " << system << ", arm " << arm;
      ASSERT_TRUE(std::ranges::is_sorted(record.digits)) << "system " << system << ", arm " << arm;
    }
    EXPECT_GT(known, 0) << records.arms()[arm];
  }
}

TEST_P(ShippedRecords, HoldSystemsLikeAnyMatrix) {
  const Records& records = shipped();
  MatrixFacts definite;
  definite.rows = definite.positive_diagonals = 10'000;
  definite.nonzeros = 50'000;
  definite.symmetric = definite.pattern_symmetric = true;
  MatrixFacts lone;
  lone.rows = lone.nonzeros = 1;
  for (const MatrixFacts& facts : {MatrixFacts{}, definite, lone, complex_facts()}) {
    const auto systems = records.similar(features_of(facts), 32);
    ASSERT_FALSE(systems.empty());
    EXPECT_LE(systems.size(), 32U);
    EXPECT_NEAR(sum_of_weights(systems), 1, 1e-12);
    EXPECT_TRUE(std::ranges::is_sorted(systems, std::greater<>{}, &SimilarSystem::weight));
    for (const SimilarSystem& system : systems) EXPECT_LT(system.number, records.size());
  }
}

TEST(Features, AreThousandthsOfWhatFactsTell) {
  MatrixFacts facts;
  facts.rows = facts.positive_diagonals = 1000;
  facts.nonzeros = 5000;
  facts.symmetric = true;
  const Features found = features_of(facts);
  EXPECT_EQ(found[log_rows], 6908);
  EXPECT_EQ(found[1], 1609) << "the logarithm of 5";
  EXPECT_EQ(found[symmetric], 1000);
  facts.symmetric = false;
  EXPECT_EQ(features_of(facts)[symmetric], 0);
  EXPECT_EQ(features_of(complex_facts())[symmetric], 1000) << "equal to its transpose";
  facts.max_abs_diagonal = std::numeric_limits<double>::max();
  EXPECT_EQ(features_of(facts)[15], 20'000) << "bounded, as thousandths are";
  EXPECT_EQ(features_of(facts)[9], 0);
  facts.positive_diagonals = 700;
  facts.negative_diagonals = 100;
  EXPECT_EQ(features_of(facts)[9], 300) << "zero, or of the rarer sign";
}

}  // namespace
}  // namespace ayatori::tuning
