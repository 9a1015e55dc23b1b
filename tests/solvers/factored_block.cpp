#include "ayatori/solvers/preconditioners/factorizations/factored_block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/preconditioners/factorizations/elimination.hpp"
#include "dense.hpp"

namespace ayatori::solvers {
namespace {

using Kind = FactorOptions::Kind;
using Ordering = FactorOptions::Ordering;
using tests::Dense;

constexpr double single = 2e-6;  ///< what rounding of factors to single precision may do to small matrices

FactoredBlock factor(const Dense& a, const FactorOptions& options) {
  return factor_block(tests::csr_of(a), options, [](std::int32_t i) { return fmt::format("row {}: ", i); });
}

/// M: the matrix of solve().
Dense inverse_of(const FactoredBlock& block) {
  const std::int32_t n = block.factors.rows;
  Dense result(n);
  std::vector<double> x(n), y(n), work(n);
  for (std::int32_t j = 0; j < n; ++j) {
    std::fill(x.begin(), x.end(), 0.0);
    x[j] = 1;
    block.solve(x, y, work);
    for (std::int32_t i = 0; i < n; ++i) result.at(i, j) = y[i];
  }
  return result;
}

/// Without the zeros that make rows even.
std::int64_t entries_of(const TriangularFactors<float>& f) {
  std::int64_t count = f.entries();
  const auto take_zeros = [&](const Array<std::int32_t>& start, const Array<std::int32_t>& column) {
    for (std::size_t i = 0; i + 1 < start.size(); ++i)
      for (std::int32_t k = start[i] + 1; k < start[i + 1]; ++k) count -= column[k] == column[k - 1] ? 1 : 0;
  };
  take_zeros(f.lower_start, f.lower_column);
  take_zeros(f.upper_start, f.upper_column);
  return count;
}

double distance_from_inverse(const FactoredBlock& block, const Dense& a) {
  return tests::max_abs(tests::add(tests::multiply(inverse_of(block), a), -1, tests::identity(a.n)));
}

/// Positive diagonals of all sizes around a symmetric or unsymmetric matrix.
Dense badly_scaled(Dense a, double decades) {
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j)
      a.at(i, j) *= std::pow(10.0, decades * (static_cast<double>((i * 7) % 11 + (j * 7) % 11) / 10 - 1));
  return a;
}

const std::vector<FactorOptions> complete{{.kind = Kind::ic, .fill = 100},
                                          {.kind = Kind::ilu, .fill = 100},
                                          {.kind = Kind::ilut, .fill = 100},
                                          {.kind = Kind::ilu, .fill = 100, .ordering = Ordering::natural},
                                          {.kind = Kind::ic, .fill = 100, .ordering = Ordering::rcm}};

/// The columns beyond the diagonal are found another way for a symmetric matrix than for any.
TEST(LevelPattern, OneLevelOfSymmetricFillIsTheUpperHalfOfAny) {
  for (const Dense& a : {tests::laplacian_2d(9), tests::random_dominant(60, 0.1, 1.1, 3, true),
                         tests::random_dominant(300, 0.02, 1.1, 4, true), tests::identity(5), Dense(3)}) {
    const FillPattern half = level_pattern(tests::csr_of(a), true, 1, [] {});
    const FillPattern whole = level_pattern(tests::csr_of(a), false, 1, [] {});
    EXPECT_TRUE(half.lower_column.empty());
    EXPECT_EQ(half.upper_start, whole.upper_start);
    EXPECT_EQ(half.upper_column, whole.upper_column);
  }
}

/// By several threads, level by level, as by one: rows of unsymmetric factors to the same bits.
TEST(LevelSchedule, SolvesAsOneThreadDoes) {
  for (const FactorOptions& options :
       {FactorOptions{.kind = Kind::ic, .fill = 1}, FactorOptions{.kind = Kind::ilu},
        FactorOptions{.kind = Kind::ilut, .fill = 5}}) {
    for (const Dense& a :
         {tests::laplacian_2d(9), tests::random_dominant(60, 0.1, 1.1, 3, true), tests::identity(5)}) {
      const FactoredBlock block = factor(a, options);
      const LevelSchedule schedule(block.factors);
      const std::int32_t n = block.factors.rows;
      std::vector<double> x(n);
      for (std::int32_t i = 0; i < n; ++i) x[i] = std::sin(i + 1.0);
      std::vector<double> expected(n);
      block.factors.solve(x, expected);
      for (const int threads : {1, 2, 5}) {
        std::vector<double> y = x;
        schedule.solve(block.factors, y, y, threads);
        for (std::int32_t i = 0; i < n; ++i) {
          if (options.kind == Kind::ic)
            ASSERT_NEAR(y[i], expected[i], 1e-13 * (1 + std::abs(expected[i]))) << i << " " << threads;
          else
            ASSERT_EQ(y[i], expected[i]) << i << " " << threads;
        }
      }
    }
  }
}

TEST(LevelSchedule, LevelsAreThoseOfTheDependences) {
  const Levels diagonals = find_levels(4, std::vector{0, 0, 1, 2, 4}, std::vector{0, 0, 1, 2}, true);
  EXPECT_EQ(diagonals.count(), 3);
  EXPECT_EQ(diagonals.start, (Array<std::int32_t>{0, 1, 3, 4}));
  EXPECT_EQ(diagonals.row, (Array<std::int32_t>{0, 1, 2, 3}));
  const Levels upper = find_levels(3, std::vector{0, 1, 2, 2}, std::vector{1, 2}, false);
  EXPECT_EQ(upper.row, (Array<std::int32_t>{2, 1, 0}));
  // 2-D grid of n x n points: 2 n - 1 diagonals in either triangle, of too few rows for a second thread.
  const LevelSchedule grid(factor(tests::laplacian_2d(9), {.kind = Kind::ilu}).factors);
  EXPECT_EQ(grid.levels(), 2 * (2 * 9 - 1));
  EXPECT_EQ(grid.worthwhile_threads(8), 1);
  const LevelSchedule one_level(factor(tests::identity(5), {.kind = Kind::ilu}).factors);
  EXPECT_EQ(one_level.levels(), 2);
}

TEST(FactoredBlock, IsExactWithAllFill) {
  for (const FactorOptions& options : complete) {
    for (const Dense& a : {tests::laplacian_2d(6), tests::random_dominant(30, 0.2, 1.1, 3, true),
                           badly_scaled(tests::laplacian_2d(6), 6), Dense(0), tests::identity(1)}) {
      const FactoredBlock block = factor(a, options);
      EXPECT_EQ(block.report.shift, 0);
      EXPECT_LT(tests::max_abs(tests::add(tests::multiply(a, inverse_of(block)), -1, tests::identity(a.n))),
                a.n == 36 && tests::max_abs(a) > 100 ? 10 : 100 * single)
          << a.n;
    }
  }
  const Dense unsymmetric = tests::random_dominant(30, 0.2, 1.1, 3, false);
  for (const FactorOptions& options : complete)
    if (options.kind != Kind::ic) {
      EXPECT_LT(distance_from_inverse(factor(unsymmetric, options), unsymmetric), single);
    }
}

TEST(FactoredBlock, LevelsAddEntriesAndExactness) {
  const Dense a = tests::laplacian_2d(8);
  for (const Kind kind : {Kind::ic, Kind::ilu}) {
    double before = 1e9;
    std::int64_t entries = 0;
    for (const int levels : {0, 1, 2, 4, 20}) {
      const FactoredBlock block = factor(a, {.kind = kind, .fill = levels});
      const double distance = distance_from_inverse(block, a);
      EXPECT_LT(distance, before) << levels;
      EXPECT_GT(entries_of(block.factors), entries) << levels;
      if (levels == 0) {
        EXPECT_EQ(entries_of(block.factors), kind == Kind::ic ? 112 : 224);
      }
      before = distance;
      entries = entries_of(block.factors);
    }
    EXPECT_LT(before, single);
  }
}

TEST(FactoredBlock, ShortRowsAreEven) {
  const auto is_even = [](const Array<std::int32_t>& start) {
    return std::ranges::all_of(start, [](std::int32_t place) { return place % 2 == 0; });
  };
  const Dense a = tests::random_dominant(60, 0.1, 1.1, 3, false);
  for (const Kind kind : {Kind::ic, Kind::ilu, Kind::ilut}) {
    const FactoredBlock block = factor(a, {.kind = kind, .fill = 1, .drop_tolerance = 1e-3});
    EXPECT_TRUE(is_even(block.factors.lower_start));
    EXPECT_TRUE(is_even(block.factors.upper_start));
    EXPECT_LT(entries_of(block.factors), block.factors.entries());
  }
  const FactoredBlock full = factor(tests::random_dominant(60, 1, 1.1, 3, false), {.kind = Kind::ilu});
  EXPECT_EQ(full.factors.entries(), 60 * 59);
}

TEST(FactoredBlock, LevelsOfATriangleOfGridPoints) {
  // Point 0 is beside 1 and 2: eliminating it joins them at level 1, and then 1 joins 2 and 3 at level 2.
  Dense a = tests::identity(4);
  for (auto [i, j] : {std::pair{0, 1}, {0, 2}, {1, 3}}) a.at(i, j) = a.at(j, i) = 0.1;
  const auto entries = [&](int levels) {
    return level_pattern(tests::csr_of(a), false, levels, [] {}).upper_column.size();
  };
  EXPECT_EQ(entries(0), 3U);
  EXPECT_EQ(entries(1), 4U);
  EXPECT_EQ(entries(2), 5U);
  EXPECT_EQ(entries(9), 5U);
}

TEST(FactoredBlock, SymmetricAndGeneralEliminationAgree) {
  for (const int levels : {0, 1, 3}) {
    const Dense a = tests::random_dominant(40, 0.1, 1.2, 9, true);
    const Dense ic = inverse_of(factor(a, {.kind = Kind::ic, .fill = levels, .ordering = Ordering::natural}));
    const Dense ilu =
        inverse_of(factor(a, {.kind = Kind::ilu, .fill = levels, .ordering = Ordering::natural}));
    EXPECT_LT(tests::max_abs(tests::add(ic, -1, ilu)), single * tests::max_abs(ilu));
    EXPECT_LT(tests::asymmetry(ic), 1e-14 * tests::max_abs(ic));
  }
}

TEST(FactoredBlock, IlutDropsByToleranceAndCount) {
  const Dense a = tests::laplacian_2d(8);
  const auto entries = [&](double tolerance, int extra) {
    return entries_of(factor(a, {.kind = Kind::ilut, .fill = extra, .drop_tolerance = tolerance}).factors);
  };
  EXPECT_LT(entries(0.1, 100), entries(0.01, 100));
  EXPECT_LT(entries(0.01, 100), entries(0, 100));
  EXPECT_LT(entries(0, 1), entries(0, 3));
  EXPECT_LE(entries(0, 0), 224);
  EXPECT_LE(entries(0, 2), 224 + 2 * 2 * 64);
}

TEST(FactoredBlock, ShiftsUntilDefinite) {
  int shifted = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Dense a = tests::random_definite(40, 0.08, seed);
    const FactoredBlock block = factor(a, {.kind = Kind::ic});
    shifted += block.report.shift > 0 ? 1 : 0;
    EXPECT_EQ(block.report.rejected_row >= 0, block.report.shift > 0);
    for (double inverse : block.factors.inverse_pivot) EXPECT_GT(inverse, 0);
    Dense m = inverse_of(block);
    EXPECT_LT(tests::asymmetry(m), 1e-11 * tests::max_abs(m));
    for (double eigenvalue : tests::eigenvalues(m)) EXPECT_GT(eigenvalue, 0);
  }
  EXPECT_GT(shifted, 0) << "the ladder was not tried";
}

TEST(FactoredBlock, PivotsOfUnsymmetricMatricesMayChangeSign) {
  Dense a = tests::random_dominant(30, 0.2, 1.2, 5, false);
  for (std::int64_t i = 0; i + 1 < 30; i += 2)
    a.at(i, i + 1) = 3 * a.at(i, i), a.at(i + 1, i) = a.at(i + 1, i + 1);
  for (const Kind kind : {Kind::ilu, Kind::ilut}) {
    const FactoredBlock block = factor(a, {.kind = kind, .fill = 100});
    EXPECT_FALSE(block.report.matched);
    EXPECT_EQ(block.report.shift, 0);
    EXPECT_TRUE(std::ranges::any_of(block.factors.inverse_pivot, [](double inverse) { return inverse < 0; }));
    EXPECT_LT(distance_from_inverse(block, a), 100 * single);
  }
}

TEST(FactoredBlock, PivotsOfAnotherSignThatAmplifyWhatIsDroppedAreReplaced) {
  Dense a = tests::identity(4);
  a.at(0, 1) = a.at(1, 3) = a.at(2, 1) = 1;
  a.at(1, 0) = 1 + 1e-6;  // the pivot -1e-6 makes an entry (2, 3) of 1e6, which is dropped
  EXPECT_GE(factor(a, {.kind = Kind::ilu}).report.rejected_row, 0);
  EXPECT_LT(factor(a, {.kind = Kind::ilu, .fill = 1}).report.rejected_row, 0);
}

TEST(FactoredBlock, MatchingRepairsAPermutation) {
  // A cyclic shift of a dominant matrix: no diagonal at all.
  const Dense good = tests::random_dominant(30, 0.1, 1.2, 4, false);
  Dense a(30);
  for (std::int64_t i = 0; i < 30; ++i)
    for (std::int64_t j = 0; j < 30; ++j) a.at(i, (j + 1) % 30) = good.at(i, j) * (i % 2 == 0 ? 1e4 : 1e-4);
  for (const Kind kind : {Kind::ilu, Kind::ilut}) {
    const FactoredBlock block = factor(a, {.kind = kind, .fill = 100});
    EXPECT_TRUE(block.report.matched);
    EXPECT_EQ(block.report.unmatched, 0);
    EXPECT_EQ(block.report.shift, 0);
    EXPECT_LT(distance_from_inverse(block, a), single);
  }
  EXPECT_FALSE(factor(good, {.kind = Kind::ilu}).report.matched);
}

TEST(FactoredBlock, MatchingMayScaleASymmetricMatrixUnsymmetrically) {
  // Indefinite with a positive diagonal, which is the best matching all the same.
  Dense a(6);
  const auto set = [&](std::int64_t i, std::int64_t j, double value) { a.at(i, j) = a.at(j, i) = value; };
  for (std::int64_t i = 0; i < 6; ++i) a.at(i, i) = 1;
  set(0, 3, 0.9), set(0, 5, 0.9), set(3, 5, -0.9);
  set(5, 1, 0.3), set(1, 4, 0.3), set(4, 2, 0.3);
  const std::vector<double> scale{1, 32, 4, 1024, 1, 128};
  const auto scaled = [&](Dense m) {
    for (std::int64_t i = 0; i < 6; ++i)
      for (std::int64_t j = 0; j < 6; ++j) m.at(i, j) *= scale[i] * scale[j];
    return m;
  };
  a = scaled(a);
  for (const Kind kind : {Kind::ilu, Kind::ilut}) {
    const FactorOptions natural{
        .kind = kind, .fill = 100, .drop_tolerance = 0, .ordering = Ordering::natural};
    FactorOptions reordered = natural;
    reordered.ordering = Ordering::rcm;
    const FactoredBlock expected = factor(a, natural), block = factor(a, reordered);
    EXPECT_TRUE(block.report.matched);
    EXPECT_TRUE(block.report.reordered);
    const Dense m = scaled(inverse_of(expected)), other = scaled(inverse_of(block));
    EXPECT_LT(tests::max_abs(tests::add(m, -1, other)), 1e-5 * tests::max_abs(m));
  }
}

TEST(FactoredBlock, SurvivesSingularMatrices) {
  Dense zero_column = tests::laplacian_1d(12);
  for (std::int64_t i = 0; i < 12; ++i) zero_column.at(i, 5) = 0;
  Dense zero_row = tests::laplacian_1d(12);
  for (std::int64_t j = 0; j < 12; ++j) zero_row.at(5, j) = 0;
  Dense neumann = tests::laplacian_1d(12);
  neumann.at(0, 0) = neumann.at(11, 11) = 1;
  for (const Dense& a : {zero_column, zero_row, neumann, Dense(3)}) {
    for (const Kind kind : {Kind::ic, Kind::ilu, Kind::ilut}) {
      const FactoredBlock block = factor(a, {.kind = kind, .fill = 3});
      EXPECT_LT(tests::max_abs(inverse_of(block)), 1e9);
      EXPECT_EQ(block.report.zero_rows,
                a.n == 3 ? 3 : tests::max_abs(a) > 0 && a.at(5, 5) == 0 && a.at(5, 4) == 0);
    }
  }
  EXPECT_GT(factor(neumann, {.kind = Kind::ic}).report.shift, 0);
}

TEST(FactoredBlock, KeepsScalingsThatSinglePrecisionCannotHold) {
  Dense a = tests::laplacian_1d(20);
  for (std::int64_t i = 0; i < 20; ++i)
    for (std::int64_t j = 0; j < 20; ++j)
      a.at(i, j) *= std::pow(10.0, 30.0 * static_cast<double>(i % 2)) *
                    std::pow(10.0, 30.0 * static_cast<double>(j % 2));
  const FactoredBlock block = factor(a, {.kind = Kind::ic});
  EXPECT_FALSE(block.row_scale.empty());
  std::vector<double> x(20), work(20), b(20);
  for (std::int64_t i = 0; i < 20; ++i) {
    b[i] = 0;
    for (std::int64_t j = 0; j < 20; ++j) b[i] += a.at(i, j) * (j % 2 == 0 ? 1 : 1e-30);
  }
  block.solve(b, x, work);
  for (std::int64_t i = 0; i < 20; ++i) EXPECT_NEAR(x[i] * (i % 2 == 0 ? 1 : 1e30), 1, 1e-4);
}

TEST(FactoredBlock, RejectsWhatIsNotFinite) {
  for (const double bad : {std::nan(""), HUGE_VAL, 1e-315}) {
    Dense a(3);
    a.at(0, 0) = a.at(2, 2) = a.at(1, 1) = bad;
    try {
      factor(a, {.kind = Kind::ic});
      FAIL() << "factored " << bad;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("row 0: "), std::string::npos) << error.what();
    }
  }
}

TEST(FactoredBlock, GivesUp) {
  for (const Kind kind : {Kind::ic, Kind::ilu, Kind::ilut})
    EXPECT_THROW(factor(tests::laplacian_1d(5), {.kind = kind, .gives_up = [] { return true; }}),
                 EnvironmentError);
  EXPECT_THROW(factor_ordering("random"), InputError);
}

}  // namespace
}  // namespace ayatori::solvers
