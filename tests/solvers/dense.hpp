#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/csr.hpp"
#include "ayatori/sparse/linear_operator.hpp"
#include "ayatori/sparse/row_block.hpp"

// Small dense matrices: what sparse and distributed results are compared with.

namespace ayatori::tests {

/// Row by row; entry (i, j) is at(i, j).
struct Dense {
  std::int64_t n = 0;
  std::vector<double> value;

  explicit Dense(std::int64_t size) : n(size), value(size * size, 0.0) {}
  double& at(std::int64_t i, std::int64_t j) { return value[i * n + j]; }
  double at(std::int64_t i, std::int64_t j) const { return value[i * n + j]; }
};

inline Dense identity(std::int64_t n) {
  Dense result(n);
  for (std::int64_t i = 0; i < n; ++i) result.at(i, i) = 1;
  return result;
}

inline Dense multiply(const Dense& a, const Dense& b) {
  Dense result(a.n);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t k = 0; k < a.n; ++k)
      for (std::int64_t j = 0; j < a.n; ++j) result.at(i, j) += a.at(i, k) * b.at(k, j);
  return result;
}

/// a + factor b
inline Dense add(const Dense& a, double factor, const Dense& b) {
  Dense result = a;
  for (std::size_t k = 0; k < a.value.size(); ++k) result.value[k] += factor * b.value[k];
  return result;
}

inline double max_abs(const Dense& a) {
  double largest = 0;
  for (double v : a.value) largest = std::isfinite(v) ? std::max(largest, std::abs(v)) : INFINITY;
  return largest;
}

inline double asymmetry(const Dense& a) {
  double largest = 0;
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < i; ++j) largest = std::max(largest, std::abs(a.at(i, j) - a.at(j, i)));
  return largest;
}

extern "C" void dsyev_(const char* job, const char* triangle, const int* n, double* a, const int* lda,
                       double* w, double* work, const int* lwork, int* info);

/// Eigenvalues, ascending, of a symmetric matrix (LAPACK).
inline std::vector<double> eigenvalues(Dense a) {
  const int n = static_cast<int>(a.n);
  const int work_size = 64 * n + 64;
  std::vector<double> w(n);
  std::vector<double> work(work_size);
  int info = 0;
  if (n > 0) dsyev_("N", "U", &n, a.value.data(), &n, w.data(), work.data(), &work_size, &info);
  return info == 0 ? w : std::vector<double>(n, NAN);
}

/// Collective. The matrix of an operator, on every rank, from its action on unit vectors.
inline Dense dense_of(const comm::Comm& comm, const sparse::LinearOperator& op) {
  const std::int64_t first = comm.exclusive_sum<std::int64_t>(op.local_size());
  const std::int64_t n = comm.allreduce<std::int64_t>(op.local_size(), comm::ReduceOp::sum);
  Dense result(n);
  std::vector<double> x(op.local_size());
  std::vector<double> y(op.local_size());
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < op.local_size(); ++i) x[i] = first + i == j ? 1 : 0;
    op.apply(x, y);
    const auto column = comm.allgatherv(std::span<const double>(y));
    for (std::int64_t i = 0; i < n; ++i) result.at(i, j) = column.values[i];
  }
  return result;
}

/// The nonzeros of a dense matrix.
inline sparse::Csr csr_of(const Dense& a) {
  sparse::Csr result;
  result.rows = result.columns = static_cast<std::int32_t>(a.n);
  result.row_start.push_back(0);
  for (std::int64_t i = 0; i < a.n; ++i) {
    for (std::int64_t j = 0; j < a.n; ++j) {
      if (a.at(i, j) == 0) continue;
      result.column.push_back(static_cast<std::int32_t>(j));
      result.value.push_back(a.at(i, j));
    }
    result.row_start.push_back(result.nonzeros());
  }
  return result;
}

/// Collective. The nonzeros of a dense matrix that every rank holds, spread by rows.
inline sparse::RowBlock spread(const comm::Comm& comm, const Dense& a,
                               const sparse::RowPartition& partition) {
  Array<sparse::Entry> entries;
  const Range mine = partition.range(comm.rank());
  for (std::int64_t i = mine.begin; i < mine.end; ++i)
    for (std::int64_t j = 0; j < a.n; ++j)
      if (a.at(i, j) != 0) entries.push_back({i, j, a.at(i, j)});
  return sparse::assemble(comm, partition, a.n, {entries});
}

/// 2 on the diagonal, -1 beside it.
inline Dense laplacian_1d(std::int64_t n) {
  Dense result(n);
  for (std::int64_t i = 0; i < n; ++i) {
    result.at(i, i) = 2;
    if (i > 0) result.at(i, i - 1) = result.at(i - 1, i) = -1;
  }
  return result;
}

/// The 5-point Laplacian on an m x m grid.
inline Dense laplacian_2d(std::int64_t m) {
  Dense result(m * m);
  for (std::int64_t i = 0; i < m * m; ++i) {
    result.at(i, i) = 4;
    if (i % m > 0) result.at(i, i - 1) = result.at(i - 1, i) = -1;
    if (i >= m) result.at(i, i - m) = result.at(i - m, i) = -1;
  }
  return result;
}

/// Entries off the diagonal are nonzero with probability `density`, uniform in [-1, 1); the diagonal is
/// `dominance` times the sum of the row's others, plus 0.1.
inline Dense random_dominant(std::int64_t n, double density, double dominance, std::uint64_t seed,
                             bool symmetric) {
  Dense result(n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      if (i != j && random_uniform(seed, i * n + j) < density)
        result.at(i, j) = 2 * random_uniform(seed + 1, i * n + j) - 1;
  if (symmetric)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < i; ++j) result.at(i, j) = result.at(j, i);
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0.1;
    for (std::int64_t j = 0; j < n; ++j) sum += dominance * std::abs(result.at(i, j));
    result.at(i, i) = sum;
  }
  return result;
}

/// B^T B + 0.01 I with sparse random B: symmetric positive definite, far from diagonally dominant.
inline Dense random_definite(std::int64_t n, double density, std::uint64_t seed) {
  Dense result = identity(n);
  for (double& v : result.value) v *= 0.01;
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        if (random_uniform(seed, k * n + i) < density && random_uniform(seed, k * n + j) < density)
          result.at(i, j) +=
              (2 * random_uniform(seed + 1, k * n + i) - 1) * (2 * random_uniform(seed + 1, k * n + j) - 1);
  return result;
}

}  // namespace ayatori::tests
