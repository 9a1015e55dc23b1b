#include "ayatori/sparse/pattern/row_figures.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "sparse/local_matrices.hpp"

namespace ayatori::sparse {
namespace {

/// Row i has i entries, in every other column; the rest of the matrix is empty.
Csr rows_of_all_lengths(std::int32_t rows) {
  std::vector<Entry> entries;
  for (std::int32_t i = 0; i < rows; ++i)
    for (std::int32_t k = 0; k < i; ++k) entries.push_back({i, 2 * k, test_value(7, 100 * i + k)});
  return csr(rows, 2 * rows, entries);
}

TEST(RowFigures, AreThoseOfALoopForRowsOfAnyLength) {
  const Csr matrix = rows_of_all_lengths(40);
  for (std::int32_t i = 0; i < matrix.rows; ++i) {
    SCOPED_TRACE(i);
    double sum = 0;
    double sum_abs = 0;
    double largest = 0;
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      sum += matrix.value[k];
      sum_abs += std::abs(matrix.value[k]);
      largest = std::max(largest, std::abs(matrix.value[k]));
    }
    const RowFigures figures = row_figures(matrix, i, i);
    EXPECT_NEAR(figures.sum, sum, 1e-14 * sum_abs);
    EXPECT_NEAR(figures.sum_abs, sum_abs, 1e-14 * sum_abs);
    EXPECT_EQ(figures.largest, largest);
    EXPECT_EQ(std::bit_cast<double>(figures.largest_bits), largest);
    for (std::int32_t column = -1; column < matrix.columns; ++column) {
      const std::int64_t place = matrix.row_start[i] + column / 2;
      const bool is_there = column >= 0 && column % 2 == 0 && place < matrix.row_start[i + 1];
      ASSERT_EQ(row_figures(matrix, i, column).diagonal, is_there ? matrix.value[place] : 0) << column;
    }
  }
}

TEST(RowFigures, OfComplexNumbersAreInModuli) {
  for (const double scale : {1.0, 1e-200, 1e200}) {
    const Complex before = scale * Complex{3, -4};
    const Complex diagonal = scale * Complex{-5, 12};
    std::vector<Entry> entries;
    const auto add = [&](std::int64_t i, std::int64_t j, double value) { entries.push_back({i, j, value}); };
    add_real_form(1, 0, before, add);
    add_real_form(1, 1, diagonal, add);
    const Csr matrix = csr(4, 4, entries);
    const ComplexRowFigures figures = complex_row_figures(matrix, 2, 2);
    EXPECT_DOUBLE_EQ(figures.sum_abs, scale * (5 + 13));
    EXPECT_DOUBLE_EQ(figures.diagonal, scale * -13);
    EXPECT_DOUBLE_EQ(figures.largest, scale * 12);
    EXPECT_DOUBLE_EQ(figures.sum, row_figures(matrix, 2, 2).sum);
    EXPECT_DOUBLE_EQ(figures.sum_below, row_figures(matrix, 3, 3).sum);
    EXPECT_EQ(complex_row_figures(matrix, 2, -1).diagonal, 0);
    EXPECT_EQ(complex_row_figures(matrix, 0, 0).sum_abs, 0);
  }
}

TEST(RowFigures, WhatIsNotFiniteIsOnTop) {
  for (const double odd : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()}) {
    for (const std::int32_t row : {5, 17, 30}) {
      for (std::int32_t k = 0; k < row; ++k) {
        Csr matrix = rows_of_all_lengths(31);
        matrix.value[matrix.row_start[row] + k] = odd;
        const RowFigures figures = row_figures(matrix, row, 0);
        ASSERT_FALSE(std::isfinite(std::bit_cast<double>(figures.largest_bits))) << row << " " << k;
        ASSERT_FALSE(std::isnan(figures.largest));
      }
    }
  }
}

}  // namespace
}  // namespace ayatori::sparse
