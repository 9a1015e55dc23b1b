#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ayatori/eigen/dense/blas.hpp"
#include "ayatori/eigen/dense/distributed_dense.hpp"
#include "ayatori/eigen/reduction/tridiagonalize.hpp"

// Whole matrices on every rank, for tests; column-major.

extern "C" void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w,
                        double* work, const int* lwork, int* iwork, const int* liwork, int* info);

namespace ayatori::eigen {

inline constexpr double eps = std::numeric_limits<double>::epsilon();

/// Shapes of grids for this many ranks.
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

/// Q T Q^T gives A again, with Q orthogonal, for Q made of the identity by back_transform(Block).
template <class BackTransform>
void expect_similarity(const Tridiagonal& t, const BackTransform& back_transform,
                       const std::vector<double>& before, std::int64_t n) {
  ASSERT_EQ(static_cast<std::int64_t>(t.diagonal.size()), n);
  ASSERT_EQ(static_cast<std::int64_t>(t.off_diagonal.size()), n - 1);
  std::vector<double> q(n * n, 0.0);
  for (std::int64_t i = 0; i < n; ++i) q[i * n + i] = 1;
  back_transform(Block{q.data(), n, n, n});
  std::vector<double> product(n * n, 0.0);  // Q T
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      product[j * n + i] = q[j * n + i] * t.diagonal[j];
      if (j > 0) product[j * n + i] += q[(j - 1) * n + i] * t.off_diagonal[j - 1];
      if (j + 1 < n) product[j * n + i] += q[(j + 1) * n + i] * t.off_diagonal[j];
    }
  }
  const ConstBlock of_q{q.data(), n, n, n};
  std::vector<double> after(n * n);
  multiply(1, Op::none, {product.data(), n, n, n}, Op::transpose, of_q, 0, {after.data(), n, n, n});
  EXPECT_LE(distance(after, before), 10 * static_cast<double>(n) * eps);
  multiply(1, Op::none, of_q, Op::transpose, of_q, 0, {after.data(), n, n, n});
  for (std::int64_t i = 0; i < n; ++i) after[i * n + i] -= 1;
  EXPECT_LE(max_abs(after), 10 * static_cast<double>(n) * eps);
}

}  // namespace ayatori::eigen
