#include "ayatori/solvers/preconditioners/complete/complete_factors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "ayatori/base/error.hpp"
#include "dense.hpp"
#include "linear_system.hpp"

namespace ayatori::solvers {
namespace {

using tests::Dense;

comm::Comm world() {
  return comm::Comm::world();
}

/// On rank 0, as the libraries want it.
GatheredMatrix gathered(const Dense& a, bool symmetric) {
  GatheredMatrix matrix{
      .rows = a.n, .nonzeros = 0, .symmetric = symmetric, .row = {}, .column = {}, .value = {}};
  for (std::int64_t i = 0; i < a.n; ++i) {
    for (std::int64_t j = 0; j < a.n; ++j) {
      if (a.at(i, j) == 0) continue;
      ++matrix.nonzeros;
      if (world().rank() != 0) continue;
      matrix.row.push_back(static_cast<int>(i + 1));
      matrix.column.push_back(static_cast<int>(j + 1));
      matrix.value.push_back(a.at(i, j));
    }
  }
  return matrix;
}

std::optional<BuiltFactors> factors_of(const FactorLibrary& library, const Dense& a, bool symmetric,
                                       bool is_last = true, const PreconditionerOptions& options = {}) {
  auto matrix = gathered(a, symmetric);
  return library.make(world(), matrix, is_last, options);
}

/// The largest difference to what LAPACK finds, relative to the largest element.
double error_of(const BuiltFactors& built, const Dense& a) {
  std::vector<double> b(a.n);
  for (std::int64_t i = 0; i < a.n; ++i) b[i] = std::cos(static_cast<double>(3 * i));
  const auto expected = tests::direct_solution(a, b);
  if (world().rank() != 0) b.clear();
  built.factors->solve(b);
  double error = 0;
  double largest = 0;
  for (const double x : expected) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < b.size(); ++i) error = std::max(error, std::abs(b[i] - expected[i]));
  return world().broadcast(error / largest, 0);
}

/// Dense blocks on the diagonal and a few entries above them.
Dense block_triangular(std::int64_t blocks, std::int64_t size) {
  Dense a(blocks * size);
  for (std::int64_t i = 0; i < a.n; ++i) {
    for (std::int64_t j = i / size * size; j < (i / size + 1) * size; ++j)
      a.at(i, j) = i == j ? 4 : 1.0 / static_cast<double>(1 + i + 2 * j);
    if (i + size < a.n) a.at(i, i + size) = -1;
  }
  return a;
}

/// [I B^T; B 0] with a B of three entries in a row.
Dense saddle_point(std::int64_t n, std::int64_t constraints) {
  Dense a(n + constraints);
  for (std::int64_t i = 0; i < n; ++i) a.at(i, i) = 1;
  for (std::int64_t k = 0; k < constraints; ++k)
    for (const std::int64_t j : {2 * k, 2 * k + 1, (5 * k + 7) % n})
      a.at(n + k, j) = a.at(j, n + k) += static_cast<double>(1 + (j % 3));
  return a;
}

const FactorLibrary* klu() {
  const auto found = std::ranges::find(factor_libraries(), "KLU", &FactorLibrary::name);
  return found == factor_libraries().end() ? nullptr : &*found;
}

TEST(FactorLibraries, SolveWhatTheyAreGivenAsTheLast) {
  const std::vector<std::pair<Dense, bool>> matrices{
      {tests::laplacian_2d(7), true},
      {tests::laplacian_2d(7), false},
      {tests::random_dominant(60, 0.1, 0.3, 3, false), false},
      {block_triangular(6, 5), false},
      {saddle_point(24, 8), true},
      {saddle_point(24, 8), false},
      {tests::identity(1), true},
  };
  for (const auto& library : factor_libraries()) {
    for (std::size_t m = 0; m < matrices.size(); ++m) {
      const auto& [a, symmetric] = matrices[m];
      const auto built = factors_of(library, a, symmetric);
      ASSERT_TRUE(built) << library.name << " on matrix " << m;
      EXPECT_LT(error_of(*built, a), 1e-10) << library.name << " on matrix " << m;
      EXPECT_EQ(built->zero_pivots, 0);
      ASSERT_EQ(built->notes.size(), 1U);
      EXPECT_NE(built->notes[0].find(library.name), std::string::npos);
    }
  }
}

TEST(FactorLibraries, AskWhetherTheirPriceMayBePaid) {
  for (const auto& library : factor_libraries()) {
    double told = 0;
    const auto allows = [&told](double most) {
      return [&told, most](double products) {
        told = products;
        return products <= most;
      };
    };
    const Dense a = tests::laplacian_2d(6);
    EXPECT_THROW(factors_of(library, a, true, true, {.may_take = allows(1e-3)}), EnvironmentError);
    EXPECT_GT(told, 1e-3) << library.name;
    EXPECT_NO_THROW(factors_of(library, a, true, true, {.may_take = allows(1e3)}));
  }
}

TEST(FactorLibraries, DoNotBeginWhatCannotEndInTime) {
  for (const auto& library : factor_libraries())
    EXPECT_THROW(factors_of(library, tests::laplacian_2d(6), true, true, {.seconds_left = 0}),
                 EnvironmentError)
        << library.name;
}

TEST(Klu, TakesTriangularBlocksAndSparseFactors) {
  if (klu() == nullptr) GTEST_SKIP() << "built without KLU";
  const auto built = factors_of(*klu(), block_triangular(12, 4), false, false);
  ASSERT_TRUE(built);
  EXPECT_NE(built->notes[0].find("in 12 blocks"), std::string::npos) << built->notes[0];
  EXPECT_TRUE(factors_of(*klu(), tests::laplacian_1d(50), true, false));
}

TEST(Klu, LeavesDensePartsAndPivotsOfTwoRowsToOthers) {
  if (klu() == nullptr) GTEST_SKIP() << "built without KLU";
  EXPECT_FALSE(factors_of(*klu(), tests::random_dominant(120, 0.9, 0.3, 3, false), false, false));
  EXPECT_FALSE(factors_of(*klu(), saddle_point(24, 8), true, false));
}

TEST(Klu, LeavesAMatrixThatIsSingularUpToRoundingToOthersAndCountsItsZeroPivotsAsTheLast) {
  if (klu() == nullptr) GTEST_SKIP() << "built without KLU";
  Dense a = tests::identity(9);
  a.at(3, 3) = a.at(4, 4) = 0.1;
  a.at(3, 4) = 0.2;
  a.at(4, 3) = std::nextafter(0.05, 1);
  EXPECT_FALSE(factors_of(*klu(), a, false, false));
  const auto built = factors_of(*klu(), a, false, true);
  ASSERT_TRUE(built);
  EXPECT_EQ(built->zero_pivots, 1);
  EXPECT_NE(built->notes.back().find("1 pivots are zero"), std::string::npos);
}

TEST(Klu, LeavesASingularMatrixToOthersAndSaysSoAsTheLast) {
  if (klu() == nullptr) GTEST_SKIP() << "built without KLU";
  Dense singular = tests::laplacian_1d(12);
  singular.at(0, 0) = singular.at(11, 11) = 1;
  for (const bool structurally : {false, true}) {
    if (structurally) singular.at(5, 4) = singular.at(5, 5) = singular.at(5, 6) = 0;
    EXPECT_FALSE(factors_of(*klu(), singular, false, false)) << structurally;
    EXPECT_THROW(factors_of(*klu(), singular, false, true), EnvironmentError) << structurally;
  }
}

/// A mesh whose diagonal is too small for the pivots that the analysis has counted on.
TEST(Klu, EndsAFactorizationThatFillsFarBeyondItsEstimate) {
  if (klu() == nullptr) GTEST_SKIP() << "built without KLU";
  Dense a = tests::laplacian_2d(16);
  for (std::int64_t i = 0; i < a.n; ++i) a.at(i, i) = i % 3 == 0 ? 1 : 1e-8;
  bool was_begun = false;
  const auto notes = [&](double) { return was_begun = true; };
  EXPECT_FALSE(factors_of(*klu(), a, false, false, {.may_take = notes}));
  EXPECT_TRUE(was_begun);
  const auto as_the_last = factors_of(*klu(), a, false, true);
  ASSERT_TRUE(as_the_last);
  EXPECT_LT(error_of(*as_the_last, a), 1e-6);
}

}  // namespace
}  // namespace ayatori::solvers
