#include "ayatori/solvers/preconditioners/complete/complete_factors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "ayatori/base/error.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "dense.hpp"
#include "linear_system.hpp"
#include "test_matrices.hpp"

namespace ayatori::solvers {
namespace {

using tests::Dense;

comm::Comm world() {
  return comm::Comm::world();
}

/// Rows spread evenly.
sparse::DistributedMatrix spread(const Dense& a) {
  const auto partition = sparse::RowPartition::even(a.n, world().size());
  return {world(), tests::spread(world(), a, partition)};
}

std::optional<BuiltFactors> factors_of(const FactorLibrary& library, const Dense& a, bool symmetric,
                                       bool is_last = true, const PreconditionerOptions& options = {},
                                       std::unique_ptr<CompleteFactors> earlier = nullptr) {
  const auto matrix = spread(a);
  MatrixToFactor to_factor(matrix, symmetric);
  return library.make(to_factor, is_last, options, std::move(earlier));
}

Dense transpose_of(const Dense& a) {
  Dense transposed(a.n);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) transposed.at(j, i) = a.at(i, j);
  return transposed;
}

/// The largest difference to what LAPACK finds, relative to the largest element.
double error_of(const BuiltFactors& built, const Dense& a, bool transposed = false) {
  std::vector<double> b(a.n);
  for (std::int64_t i = 0; i < a.n; ++i) b[i] = std::cos(static_cast<double>(3 * i));
  const auto expected = tests::direct_solution(transposed ? transpose_of(a) : a, b);
  const Range mine = sparse::RowPartition::even(a.n, world().size()).range(world().rank());
  std::vector<double> x(mine.size());
  const auto b_here = std::span<const double>(b).subspan(mine.begin, mine.size());
  if (transposed) {
    built.factors->solve_transposed(b_here, x);
  } else {
    built.factors->solve(b_here, x);
  }
  double error = 0;
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::int64_t i = 0; i < mine.size(); ++i)
    error = std::max(error, std::abs(x[i] - expected[mine.begin + i]));
  return world().allreduce(error / largest, comm::ReduceOp::max);
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
      EXPECT_LT(error_of(*built, a, true), 1e-10) << library.name << " on the transpose of matrix " << m;
      EXPECT_LT(error_of(*built, a), 1e-10) << library.name << ", again, on matrix " << m;
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

const FactorLibrary* mumps() {
  const auto found = std::ranges::find(factor_libraries(), "MUMPS", &FactorLibrary::name);
  return found == factor_libraries().end() ? nullptr : &*found;
}

bool says(const BuiltFactors& built, std::string_view what) {
  return std::ranges::any_of(built.notes,
                             [&](const std::string& note) { return note.find(what) != std::string::npos; });
}

/// From 1e-20 to 1e20.
double power(std::int64_t i) {
  return std::pow(10.0, static_cast<double>((i * 7 % 41) - 20));
}

/// How far A times what the factors make of A x is from A x, in units of each row's |A| |x|.
double backward_error_of(const BuiltFactors& built, const Dense& a, const std::vector<double>& of) {
  std::vector<double> b(a.n, 0);
  std::vector<double> row_sum(a.n, 0);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) b[i] += a.at(i, j) * of[j];
  const Range mine = sparse::RowPartition::even(a.n, world().size()).range(world().rank());
  std::vector<double> own(mine.size());
  built.factors->solve(std::span<const double>(b).subspan(mine.begin, mine.size()), own);
  const auto x = world().allgatherv(std::span<const double>(own)).values;
  double error = 0;
  for (std::int64_t i = 0; i < a.n; ++i) {
    double left = b[i];
    for (std::int64_t j = 0; j < a.n; ++j) {
      left -= a.at(i, j) * x[j];
      row_sum[i] += std::abs(a.at(i, j) * x[j]);
    }
    error = std::max(error, std::abs(left) / row_sum[i]);
  }
  return error;
}

TEST(Mumps, SinglePrecisionKeepsSevenDigitsWhateverTheScale) {
  if (mumps() == nullptr) GTEST_SKIP() << "built without MUMPS";
  for (const bool symmetric : {true, false}) {
    Dense a = tests::random_dominant(60, 0.2, 0.3, 3, symmetric);
    std::vector<double> x(a.n, 1);
    for (const bool is_scaled : {false, true}) {
      for (std::int64_t i = 0; is_scaled && i < a.n; ++i) {
        const std::int64_t shift = symmetric ? 0 : 5;
        for (std::int64_t j = 0; j < a.n; ++j) a.at(i, j) *= power(i) * power(j + shift);
        x[i] /= power(i + shift);
      }
      const auto built = factors_of(*mumps(), a, symmetric, true, {.factor_precision = "single"});
      ASSERT_TRUE(built);
      EXPECT_TRUE(built->reduced_accuracy);
      EXPECT_TRUE(says(*built, "in single precision"));
      const double error = backward_error_of(*built, a, x);
      EXPECT_LT(error, 1e-5) << symmetric << is_scaled;
      EXPECT_GT(error, 1e-10) << "double precision, after all";
    }
  }
}

TEST(Mumps, TakesDoublesWhereTheMatrixIsSingularInSinglePrecision) {
  if (mumps() == nullptr) GTEST_SKIP() << "built without MUMPS";
  Dense a = tests::laplacian_1d(12);
  a.at(0, 0) = a.at(11, 11) = 1;
  a.at(5, 5) += 1e-9;
  const auto built = factors_of(*mumps(), a, true, true, {.factor_precision = "single"});
  ASSERT_TRUE(built);
  EXPECT_FALSE(built->reduced_accuracy);
  EXPECT_TRUE(says(*built, "in double precision"));
  EXPECT_EQ(built->zero_pivots, 0);
  EXPECT_LT(error_of(*built, a), 1e-5);
}

TEST(Mumps, LowRankFactorsAreAsAccurateAsAsked) {
  if (mumps() == nullptr) GTEST_SKIP() << "built without MUMPS";
  const Dense a = tests::laplacian_2d(40);
  double before = 1;
  for (const double accuracy : {1e-2, 1e-12}) {
    const auto built = factors_of(*mumps(), a, true, true, {.low_rank = accuracy});
    ASSERT_TRUE(built);
    EXPECT_TRUE(built->reduced_accuracy);
    EXPECT_TRUE(says(*built, "low rank"));
    const double error = error_of(*built, a);
    EXPECT_LE(error, before);
    before = error;
  }
  EXPECT_LT(before, 1e-9);
}

TEST(FactorLibraries, UseTheirAnalysisAgainForOtherValues) {
  for (const auto& library : factor_libraries()) {
    for (const char* precision : {"double", "single"}) {
      const PreconditionerOptions options{.factor_precision = precision};
      SCOPED_TRACE(fmt::format("{} {}", library.name, precision));
      Dense a = tests::random_dominant(60, 0.1, 0.3, 3, true);
      auto built = factors_of(library, a, true, true, options);
      ASSERT_TRUE(built);
      const auto first = built->factors->work();
      for (std::int64_t i = 0; i < a.n; ++i) a.at(i, i) *= 1 + 0.1 * static_cast<double>(i % 5);
      built = factors_of(library, a, true, true, options, std::move(built->factors));
      ASSERT_TRUE(built);
      EXPECT_TRUE(says(*built, "as before"));
      EXPECT_LT(error_of(*built, a), built->reduced_accuracy ? 1e-4 : 1e-11);
      const auto second = built->factors->work();
      EXPECT_EQ(second.analyses, first.analyses);
      EXPECT_EQ(second.factorizations, first.factorizations > 0 ? first.factorizations + 1 : 0);
      EXPECT_TRUE(world().any(first.analyses > 0));

      a.at(3, 57) = a.at(57, 3) = a.at(3, 57) == 0 ? 0.25 : 0;
      built = factors_of(library, a, true, true, options, std::move(built->factors));
      ASSERT_TRUE(built);
      EXPECT_FALSE(says(*built, "as before")) << "of another pattern";
      EXPECT_LT(error_of(*built, a), built->reduced_accuracy ? 1e-4 : 1e-11);
    }
  }
}

TEST(Klu, FactorsTheComplexMatrixOfARealForm) {
  if (klu() == nullptr) GTEST_SKIP() << "built without KLU";
  const Dense real = block_triangular(6, 4);
  Dense a(2 * real.n);
  for (std::int64_t i = 0; i < real.n; ++i)
    for (std::int64_t j = 0; j < real.n; ++j)
      sparse::add_real_form(
          i, j, real.at(i, j) * sparse::Complex(1, 0.5 + static_cast<double>((i + j) % 3)),
          [&](std::int64_t row, std::int64_t column, double part) { a.at(row, column) = part; });
  const PreconditionerOptions options{.matrix_is_complex = true};
  auto built = factors_of(*klu(), a, false, false, options);
  ASSERT_TRUE(built);
  EXPECT_TRUE(says(*built, "complete complex factors by KLU"));
  EXPECT_TRUE(says(*built, "in 6 blocks"));
  EXPECT_LT(error_of(*built, a), 1e-10);
  EXPECT_LT(error_of(*built, a, true), 1e-10);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) a.at(i, j) *= 1.5;
  built = factors_of(*klu(), a, false, false, options, std::move(built->factors));
  ASSERT_TRUE(built);
  EXPECT_TRUE(says(*built, ", order and pivots as before"));
  EXPECT_LT(error_of(*built, a), 1e-10);
}

/// Off the diagonal the pivots are the same in value and order at first; then those that were chosen vanish.
TEST(Klu, ChoosesPivotsAnewWhereTheOldOnesMakeEntriesGrow) {
  if (klu() == nullptr) GTEST_SKIP() << "built without KLU";
  Dense a = tests::laplacian_1d(12);
  for (std::int64_t i = 0; i < a.n; ++i) a.at(i, i) = 4;
  auto built = factors_of(*klu(), a, false);
  ASSERT_TRUE(built);
  for (std::int64_t i = 0; i < a.n; ++i) a.at(i, i) = i % 2 == 0 ? 1e-9 : 1;
  built = factors_of(*klu(), a, false, true, {}, std::move(built->factors));
  ASSERT_TRUE(built);
  EXPECT_TRUE(says(*built, ", order as before"));
  EXPECT_LT(error_of(*built, a), 1e-10);
  const auto work = built->factors->work();
  if (world().rank() == 0) {
    EXPECT_EQ(work.analyses, 1);
    EXPECT_EQ(work.factorizations, 3);
  }
}

/// Nothing where a sequential MUMPS will not gather the matrix.
std::optional<BuiltFactors> by_mumps(MatrixToFactor& to_factor, const PreconditionerOptions& options = {}) {
  try {
    auto built = mumps()->make(to_factor, true, options, nullptr);
    EXPECT_TRUE(built);
    return built;
  } catch (const EnvironmentError& error) {
    if (std::string(error.what()).find("MUMPS works on one rank") == std::string::npos) throw;
    EXPECT_TRUE(error.agreed());
    return std::nullopt;
  }
}

/// Collective. Solves with the matrix and its transpose.
void check_solves(const BuiltFactors& built, const sparse::DistributedMatrix& matrix, double accuracy) {
  std::vector<double> x(matrix.local_size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::cos(static_cast<double>(3 * i));
  std::vector<double> b(x.size());
  std::vector<double> found(x.size());
  matrix.apply(x, b);
  built.factors->solve(b, found);
  double error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) error = std::max(error, std::abs(found[i] - x[i]));
  EXPECT_LT(world().allreduce(error, comm::ReduceOp::max), accuracy);
  // z = A^-T x has (z, A x) = (x, x).
  built.factors->solve_transposed(x, found);
  std::array<double, 2> sums{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums[0] += found[i] * b[i];
    sums[1] += x[i] * x[i];
  }
  world().allreduce(std::span<double>(sums), comm::ReduceOp::sum);
  EXPECT_NEAR(sums[0] / sums[1], 1, accuracy);
}

/// So large that all ranks factor, with the matrix and the vectors spread over them, or with the matrix on
/// one where its diagonal is of no use as pivots.
TEST(Mumps, AllRanksSolveLargeSystems) {
  if (mumps() == nullptr) GTEST_SKIP() << "built without MUMPS";
  for (const bool symmetric : {true, false}) {
    for (const bool is_useful : {true, false}) {
      for (const char* precision : {"double", "single"}) {
        SCOPED_TRACE(fmt::format("{} {} {}", symmetric, is_useful, precision));
        auto grid = sparse::five_point_matrix(132, 1, symmetric ? 1 : 0.5);
        for (auto& entry : grid.entries) {
          if (!symmetric && entry.column > entry.row) entry.value *= 0.75;
          if (!is_useful && entry.row == entry.column && entry.row % 1000 == 0) entry.value = -1e-3;
        }
        const sparse::DistributedMatrix matrix(world(), grid.distribute(world()));
        MatrixToFactor to_factor(matrix, symmetric, 0);
        EXPECT_EQ(to_factor.is_small(), world().size() == 1);
        EXPECT_EQ(to_factor.has_useful_diagonal(), is_useful);
        const PreconditionerOptions options{.factor_precision = precision};
        const auto built = by_mumps(to_factor, options);
        if (!built) GTEST_SKIP() << "the sequential MUMPS";
        EXPECT_EQ(built->reproducible, world().size() == 1);
        const double accuracy = built->reduced_accuracy ? 0.02 : 1e-9;
        for (int k = 0; k < 2; ++k) check_solves(*built, matrix, accuracy);
      }
    }
  }
}

/// 45 points on a cube, with first differences that make it unsymmetric.
sparse::TestMatrix cube(std::int64_t n) {
  sparse::TestMatrix matrix{"cube", n * n * n, {}};
  const auto is_inside = [n](std::int64_t i) { return i >= 0 && i < n; };
  for (std::int64_t row = 0; row < matrix.n; ++row) {
    for (int k = 0; k < 45; ++k) {
      const std::array<std::int64_t, 3> to{row % n + k % 5 - 2, row / n % n + k / 5 % 3 - 1,
                                           row / (n * n) + k / 15 - 1};
      if (!std::ranges::all_of(to, is_inside)) continue;
      const std::int64_t column = to[0] + n * (to[1] + n * to[2]);
      const double value = row == column ? 44.5 : column > row ? -0.5 : -1.5;
      matrix.entries.push_back({row, column, value});
    }
  }
  return matrix;
}

/// With the matrix on one rank, and spread over all.
TEST(Mumps, TakesADissectionWhereItSavesMuch) {
  if (mumps() == nullptr) GTEST_SKIP() << "built without MUMPS";
  for (const bool is_spread : {false, true}) {
    SCOPED_TRACE(is_spread);
    const sparse::DistributedMatrix matrix(world(), cube(26).distribute(world()));
    MatrixToFactor to_factor(matrix, false, is_spread ? 0 : most_on_one_rank);
    const auto built = by_mumps(to_factor);
    if (!built) GTEST_SKIP() << "the sequential MUMPS";
    if (world().rank() == 0) {
      EXPECT_EQ(built->factors->work().analyses, 2);
    }
    check_solves(*built, matrix, 1e-10);
  }
}

/// Rows that most others touch, in graphs that no dissection cuts well; one is not symmetric.
TEST(Mumps, FactorsGraphsWithHubs) {
  if (mumps() == nullptr) GTEST_SKIP() << "built without MUMPS";
  for (const bool symmetric : {true, false}) {
    Dense a(1500);
    for (std::int64_t i = 0; i < a.n; ++i) {
      a.at(i, i) = 2000;
      for (std::int64_t k = 1; k <= 4; ++k) {
        const auto j = static_cast<std::int64_t>(
            random_bits(static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(i)) %
            static_cast<std::uint64_t>(a.n));
        a.at(i, j) += 1;
        if (symmetric) a.at(j, i) += 1;
      }
      if (i % 2 == 0) a.at(7, i) += 1;
      if (i % 2 == 0) a.at(i, 7) += 1;
    }
    const auto built = factors_of(*mumps(), a, symmetric);
    ASSERT_TRUE(built);
    EXPECT_LT(error_of(*built, a), 1e-10);
  }
}

}  // namespace
}  // namespace ayatori::solvers
