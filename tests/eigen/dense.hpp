#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ayatori/eigen/dense/distributed_dense.hpp"

// Whole matrices on every rank, for tests; column-major.

extern "C" void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w,
                        double* work, const int* lwork, int* iwork, const int* liwork, int* info);

namespace ayatori::eigen {

inline constexpr double eps = std::numeric_limits<double>::epsilon();

/// Shapes of grids for so many ranks.
inline std::vector<GridShape> shapes_of(int ranks) {
  std::vector<GridShape> shapes;
  for (int rows = 1; rows <= ranks; ++rows) {
    if (ranks % rows == 0) shapes.push_back({rows, ranks / rows});
  }
  return shapes;
}

inline std::vector<double> whole(const DistributedDense& a) {
  const auto columns = gather_columns(a, {0, a.order()}, 0);
  return {columns.begin(), columns.end()};
}

/// Eigenvalues by LAPACK, ascending.
inline std::vector<double> reference_values(std::vector<double> a, std::int64_t n) {
  std::vector<double> values(n);
  const int order = static_cast<int>(n);
  const int sizes[2] = {2 * order + 1, 1};
  std::vector<double> work(sizes[0]);
  std::vector<int> iwork(sizes[1]);
  int info = 0;
  dsyevd_("N", "L", &order, a.data(), &order, values.data(), work.data(), &sizes[0], iwork.data(), &sizes[1],
          &info);
  EXPECT_EQ(info, 0);
  return values;
}

inline double max_abs(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// max |a_i - b_i|
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= largest)) largest = std::abs(a[i] - b[i]);
  }
  return largest;
}

}  // namespace ayatori::eigen
