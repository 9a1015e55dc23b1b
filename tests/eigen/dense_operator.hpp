#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ayatori/eigen/davidson.hpp"
#include "world.hpp"

namespace ayatori::eigen {

/// An operator of a matrix that every rank has, row by row.
inline SymmetricOperator dense_operator(const std::vector<double>& a, std::int64_t n) {
  double norm = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += std::abs(a[i * n + j]);
    norm = std::max(norm, sum);
  }
  const Range rows = split_evenly(n, world().size(), world().rank());
  const auto apply = [a, n, rows](std::span<const double> x, std::span<double> y) {
    const auto all = world().allgatherv(x).values;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += a[i * n + j] * all[j];
      y[i - rows.begin] = sum;
    }
  };
  return {n, rows, norm, apply, {}};
}

/// The five-point Laplacian of m x m points times `scale`: most of its eigenvalues are double.
inline std::vector<double> laplacian(std::int64_t m, double scale = 1, double shift = 0) {
  const std::int64_t n = m * m;
  std::vector<double> a(n * n, 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    a[i * n + i] = scale * (4 - shift);
    if (i % m != 0) a[i * n + i - 1] = a[(i - 1) * n + i] = -scale;
    if (i >= m) a[i * n + i - m] = a[(i - m) * n + i] = -scale;
  }
  return a;
}

}  // namespace ayatori::eigen
