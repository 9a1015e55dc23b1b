#include "ayatori/solvers/preconditioners/factorizations/ilu0.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/preconditioners/factorizations/error_of_ones.hpp"
#include "dense.hpp"

namespace ayatori::solvers {
namespace {

using tests::Dense;

Ilu0 factor(const Dense& a) {
  return ilu0_factor(tests::csr_of(a), {0, a.n});
}

/// The product L D U.
Dense product_of(const Ilu0& f) {
  Dense lower = tests::identity(f.rows);
  Dense upper(f.rows);
  for (std::int32_t i = 0; i < f.rows; ++i) {
    const double pivot = 1 / f.inverse_pivot[i];
    upper.at(i, i) = pivot;
    for (std::int32_t k = f.lower_start[i]; k < f.lower_start[i + 1]; ++k)
      lower.at(i, f.lower_column[k]) = f.lower_value[k];
    for (std::int32_t k = f.upper_start[i]; k < f.upper_start[i + 1]; ++k)
      upper.at(i, f.upper_column[k]) = pivot * f.upper_value[k];
  }
  return tests::multiply(lower, upper);
}

/// M: the matrix of solve().
Dense inverse_of(const Ilu0& f) {
  Dense result(f.rows);
  std::vector<double> x(f.rows);
  std::vector<double> y(f.rows);
  for (std::int32_t j = 0; j < f.rows; ++j) {
    std::fill(x.begin(), x.end(), 0.0);
    x[j] = 1;
    f.solve(x, y);
    for (std::int32_t i = 0; i < f.rows; ++i) result.at(i, j) = y[i];
  }
  return result;
}

/// The largest difference of L D U and a where a has an entry or on the diagonal.
double error_on_pattern(const Ilu0& f, const Dense& a) {
  const Dense product = product_of(f);
  double largest = 0;
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j)
      if (a.at(i, j) != 0 || i == j) largest = std::max(largest, std::abs(product.at(i, j) - a.at(i, j)));
  return largest;
}

/// Expects M symmetric with positive eigenvalues, up to rounding.
void expect_definite(const Dense& m) {
  EXPECT_LT(tests::asymmetry(m), 1e-11 * tests::max_abs(m));
  Dense symmetric = m;
  for (std::int64_t i = 0; i < m.n; ++i)
    for (std::int64_t j = 0; j < m.n; ++j) symmetric.at(i, j) = (m.at(i, j) + m.at(j, i)) / 2;
  for (double eigenvalue : tests::eigenvalues(symmetric)) EXPECT_GT(eigenvalue, 0);
}

TEST(Ilu0, IsExactForTridiagonalMatrices) {
  for (const std::int64_t n : {1, 2, 3, 10, 57}) {
    Dense a = tests::laplacian_1d(n);
    for (std::int64_t i = 0; i + 1 < n; ++i) a.at(i, i + 1) = -0.3 - 0.01 * static_cast<double>(i % 7);
    const Ilu0 f = factor(a);
    EXPECT_EQ(f.report.shift, 0);
    EXPECT_LT(tests::max_abs(tests::add(tests::multiply(inverse_of(f), a), -1, tests::identity(n))), 1e-10)
        << n;
  }
}

TEST(Ilu0, EqualsTheMatrixOnItsPattern) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const Dense a = tests::random_dominant(40, 0.15, 1.2, seed, false);
    const Ilu0 f = factor(a);
    EXPECT_EQ(f.report.shift, 0);
    EXPECT_LT(error_on_pattern(f, a), 1e-13 * tests::max_abs(a));
    EXPECT_GT(tests::max_abs(tests::add(product_of(f), -1, a)), 1e-3) << "no fill dropped: not a test";
  }
}

/// The zero that makes a row even comes first, in the column of the entry beside it.
TEST(Ilu0, ColumnsAscendInLAndDescendInU) {
  const Ilu0 f = factor(tests::random_dominant(30, 0.3, 1.2, 7, false));
  int zeros = 0;
  const auto first = [&](const Array<std::int32_t>& column, const Array<double>& value, std::int32_t begin,
                         std::int32_t end) {
    if (begin == end || value[begin] != 0) return begin;
    ++zeros;
    EXPECT_EQ(column[begin], column[begin + 1]);
    return begin + 1;
  };
  for (std::int32_t i = 0; i < f.rows; ++i) {
    EXPECT_EQ(f.lower_start[i] % 2, 0);
    EXPECT_EQ(f.upper_start[i] % 2, 0);
    const std::int32_t end_of_lower = f.lower_start[i + 1];
    for (std::int32_t k = first(f.lower_column, f.lower_value, f.lower_start[i], end_of_lower) + 1;
         k < end_of_lower; ++k)
      EXPECT_LT(f.lower_column[k - 1], f.lower_column[k]);
    const std::int32_t end_of_upper = f.upper_start[i + 1];
    for (std::int32_t k = first(f.upper_column, f.upper_value, f.upper_start[i], end_of_upper) + 1;
         k < end_of_upper; ++k)
      EXPECT_GT(f.upper_column[k - 1], f.upper_column[k]);
  }
  EXPECT_GT(zeros, 0);
  EXPECT_EQ(f.bytes(), 12 * (f.lower_start.back() + f.upper_start.back()) + 16 * 30);
}

TEST(Ilu0, FactorsOnlyTheBlock) {
  const Dense a = tests::random_dominant(30, 0.3, 1.2, 11, false);
  Dense block(12);
  for (std::int64_t i = 0; i < 12; ++i)
    for (std::int64_t j = 0; j < 12; ++j) block.at(i, j) = a.at(8 + i, 8 + j);
  const Ilu0 f = ilu0_factor(tests::csr_of(a), {8, 20});
  const Ilu0 g = factor(block);
  EXPECT_EQ(tests::max_abs(tests::add(inverse_of(f), -1, inverse_of(g))), 0);
}

TEST(Ilu0, IsDefiniteForDefiniteMatrices) {
  int shifted = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Dense a = tests::random_definite(40, 0.08, seed);
    const Ilu0 f = factor(a);
    shifted += f.report.shift > 0;
    EXPECT_FALSE(f.report.diagonal_only);
    for (double inverse : f.inverse_pivot) EXPECT_GT(inverse, 0);
    expect_definite(inverse_of(f));
  }
  EXPECT_GT(shifted, 0) << "the ladder was not tried";
  expect_definite(inverse_of(factor(tests::laplacian_2d(7))));
}

TEST(Ilu0, ShiftedFactorsEqualTheShiftedMatrix) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Dense a = tests::random_definite(40, 0.08, seed);
    const Ilu0 f = factor(a);
    if (f.report.shift == 0) continue;
    EXPECT_GE(f.report.rejected_row, 0);
    for (std::int64_t i = 0; i < a.n; ++i) a.at(i, i) *= 1 + f.report.shift;
    EXPECT_LT(error_on_pattern(f, a), 1e-11 * tests::max_abs(a));
  }
}

TEST(Ilu0, NegativeDefiniteMatricesKeepTheirSign) {
  Dense a = tests::random_definite(40, 0.08, 3);
  for (double& v : a.value) v = -v;
  for (double inverse : factor(a).inverse_pivot) EXPECT_LT(inverse, 0);
}

TEST(Ilu0, InsertsMissingDiagonals) {
  Dense a(4);  // a permutation: no diagonal at all
  a.at(0, 1) = a.at(1, 0) = a.at(2, 3) = a.at(3, 2) = 1;
  const Ilu0 f = factor(a);
  EXPECT_EQ(f.report.inserted_diagonals, 4);
  EXPECT_GT(f.report.shift, 0);
  EXPECT_LT(tests::max_abs(tests::add(tests::multiply(inverse_of(f), a), -1, tests::identity(4))), 0.01);
}

TEST(Ilu0, SaddlePointNeedsNoShift) {
  Dense a = tests::laplacian_1d(6);
  a.at(5, 5) = 0;  // eliminating the others fills it
  const Ilu0 f = factor(a);
  EXPECT_EQ(f.report.shift, 0);
  EXPECT_LT(error_on_pattern(f, a), 1e-14);
}

TEST(Ilu0, ZeroRowsGetTheScaleOfTheBlock) {
  Dense a = tests::laplacian_1d(5);
  a.at(2, 1) = a.at(2, 2) = a.at(2, 3) = 0;
  const Ilu0 f = factor(a);
  EXPECT_EQ(f.report.zero_rows, 1);
  EXPECT_EQ(f.report.shift, 0);
  EXPECT_DOUBLE_EQ(f.inverse_pivot[2], 0.5);
  EXPECT_DOUBLE_EQ(factor(Dense(1)).inverse_pivot[0], 1);
}

TEST(Ilu0, TinyPivotsAreShifted) {
  Dense a(2);
  a.at(0, 0) = 1e-20;
  a.at(0, 1) = a.at(1, 0) = a.at(1, 1) = 1;
  const Ilu0 f = factor(a);
  EXPECT_GT(f.report.shift, 0);
  EXPECT_LT(tests::max_abs(inverse_of(f)), 1e4);
  const Dense singular = [] {
    Dense s = tests::laplacian_1d(20);
    s.at(0, 0) = s.at(19, 19) = 1;
    return s;
  }();
  EXPECT_EQ(factor(singular).report.rejected_row, 19);
  expect_definite(inverse_of(factor(singular)));
}

/// As in systems of equations of several kinds, where an unknown of one kind outweighs those of another.
TEST(Ilu0, PivotsOfUnsymmetricMatricesMayChangeSign) {
  Dense a(2);
  a.at(0, 0) = a.at(1, 0) = a.at(1, 1) = 1;
  a.at(0, 1) = 2;
  const Ilu0 f = factor(a);
  EXPECT_EQ(f.report.shift, 0);
  EXPECT_LT(f.inverse_pivot[1], 0);
  EXPECT_LT(error_on_pattern(f, a), 1e-14);
  a.at(1, 0) = 2;
  EXPECT_GT(factor(a).report.shift, 0) << "a symmetric matrix gets definite factors";
  expect_definite(inverse_of(factor(a)));
}

TEST(Ilu0, PivotsOfAnotherSignThatAmplifyWhatIsDroppedAreShifted) {
  Dense a = tests::identity(4);
  a.at(0, 1) = a.at(1, 3) = a.at(2, 1) = 1;
  a.at(1, 0) = 1 + 1e-6;  // the pivot -1e-6 makes an entry (2, 3) of 1e6, which is dropped
  EXPECT_GT(factor(a).report.shift, 0);
  a.at(2, 3) = 1e-3;  // where there is an entry, nothing is dropped
  EXPECT_EQ(factor(a).report.shift, 0);
}

/// A clamped plate: the square of the five-point Laplacian of n x n points.
sparse::Csr plate(std::int32_t n) {
  const auto neighbours = [n](std::int32_t i) {
    std::vector<std::pair<std::int32_t, double>> row{{i, 4.0}};
    if (i >= n) row.emplace_back(i - n, -1.0);
    if (i % n > 0) row.emplace_back(i - 1, -1.0);
    if (i % n < n - 1) row.emplace_back(i + 1, -1.0);
    if (i < n * (n - 1)) row.emplace_back(i + n, -1.0);
    return row;
  };
  sparse::Csr a{n * n, n * n, {0}, {}, {}};
  for (std::int32_t i = 0; i < n * n; ++i) {
    std::map<std::int32_t, double> row;
    for (const auto& [k, left] : neighbours(i))
      for (const auto& [j, right] : neighbours(k)) row[j] += left * right;
    for (const auto& [j, value] : row) a.column.push_back(j), a.value.push_back(value);
    a.row_start.push_back(static_cast<std::int64_t>(a.column.size()));
  }
  return a;
}

/// The smallest shift that makes these pivots positive leaves some near 0: CG takes four times as many
/// iterations then, and on larger plates a hundred times.
TEST(Ilu0, ShiftsUntilFactorsAreNearTheMatrix) {
  const sparse::Csr a = plate(41);
  const Ilu0 f = ilu0_factor(a, {0, a.rows});
  ASSERT_GT(f.report.shift, 0);
  Array<double> sums(a.rows, 0.0);
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) sums[i] += a.value[k];
  EXPECT_LT(error_of_ones(f, sums), largest_error_of_ones);
}

TEST(Ilu0, HoldsAtExtremeScales) {
  const Dense a = tests::laplacian_2d(6);
  const Dense m = inverse_of(factor(a));
  for (const double scale : {1e-78, 1e28, 1e-290, 1e290}) {
    Dense scaled = a;
    for (double& v : scaled.value) v *= scale;
    const Ilu0 f = factor(scaled);
    EXPECT_EQ(f.report.shift, 0) << scale;
    Dense back = inverse_of(f);
    for (double& v : back.value) v *= scale;
    EXPECT_LT(tests::max_abs(tests::add(back, -1, m)), 1e-14) << scale;
  }
}

TEST(Ilu0, IsIndifferentToSymmetricScaling) {
  Dense a = tests::laplacian_2d(6);
  const auto unit = [](std::int64_t i) { return std::pow(10.0, static_cast<double>(i % 7 - 3)); };
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) a.at(i, j) *= unit(i) * unit(j);
  const Ilu0 f = factor(a);
  EXPECT_EQ(f.report.shift, 0);
  Dense m = inverse_of(f);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) m.at(i, j) *= unit(i) * unit(j);
  EXPECT_LT(tests::max_abs(tests::add(m, -1, inverse_of(factor(tests::laplacian_2d(6))))), 1e-13);
}

TEST(Ilu0, RejectsEntriesThatAreNotFinite) {
  for (const double bad : {std::nan(""), HUGE_VAL, 1e-315}) {
    Dense a(3);
    a.at(0, 0) = a.at(2, 2) = a.at(1, 1) = bad;
    try {
      ilu0_factor(tests::csr_of(a), {0, 3}, 100);
      FAIL() << "factored " << bad;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("block-ilu0: row 101: "), std::string::npos) << error.what();
    }
  }
}

TEST(Ilu0, EmptyBlock) {
  const Ilu0 f = ilu0_factor(tests::csr_of(Dense(3)), {2, 2});
  f.solve({}, {});
  EXPECT_EQ(f.bytes(), 0);
}

}  // namespace
}  // namespace ayatori::solvers
