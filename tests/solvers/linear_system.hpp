#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ayatori/solvers/method.hpp"
#include "ayatori/sparse/partition/row_partition.hpp"
#include "dense.hpp"

// Small systems spread over ranks, with operators that share no code with the sparse module.

namespace ayatori::tests {

/// A dense matrix known to all ranks, applied to vectors spread by a partition: the plainest distributed
/// operator.
class DenseOperator final : public sparse::LinearOperator {
 public:
  DenseOperator(comm::Comm comm, Dense a, sparse::RowPartition partition)
      : comm_(std::move(comm)), a_(std::move(a)), partition_(std::move(partition)) {}

  void apply(std::span<const double> x, std::span<double> y) const override {
    ++products;
    const auto all = comm_.allgatherv(x);
    const Range mine = partition_.range(comm_.rank());
    for (std::int64_t i = mine.begin; i < mine.end; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < a_.n; ++j) sum += a_.at(i, j) * all.values[j];
      y[i - mine.begin] = sum;
    }
  }
  std::int32_t local_size() const override {
    return static_cast<std::int32_t>(partition_.range(comm_.rank()).size());
  }

  mutable int products = 0;

 private:
  comm::Comm comm_;
  Dense a_;
  sparse::RowPartition partition_;
};

extern "C" void dgesv_(const int* n, const int* columns, double* a, const int* lda, int* pivot, double* b,
                       const int* ldb, int* info);

/// The solution of a x = b (LAPACK).
inline std::vector<double> direct_solution(const Dense& a, std::vector<double> b) {
  Dense transposed(a.n);  // LAPACK wants columns
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) transposed.at(j, i) = a.at(i, j);
  const int n = static_cast<int>(a.n);
  const int one = 1;
  std::vector<int> pivot(n);
  int info = 0;
  dgesv_(&n, &one, transposed.value.data(), &n, pivot.data(), b.data(), &n, &info);
  return info == 0 ? b : std::vector<double>(n, NAN);
}

inline Dense diagonal_inverse(const Dense& a) {
  Dense result(a.n);
  for (std::int64_t i = 0; i < a.n; ++i) result.at(i, i) = 1 / a.at(i, i);
  return result;
}

/// y_i = x_(i+1), cyclically: GMRES(m) stands still for m < n.
inline Dense cyclic_shift(std::int64_t n) {
  Dense result(n);
  for (std::int64_t i = 0; i < n; ++i) result.at(i, (i + 1) % n) = 1;
  return result;
}

/// Elements uniform in [-1, 1).
inline std::vector<double> random_vector(std::int64_t n, std::uint64_t seed) {
  std::vector<double> v(n);
  for (std::int64_t i = 0; i < n; ++i) v[i] = 2 * random_uniform(seed, i) - 1;
  return v;
}

/// Symmetric with eigenvalues of both signs.
inline Dense indefinite(std::int64_t n) {
  Dense a = random_dominant(n, 0.2, 1.2, 5, true);
  for (std::int64_t i = 0; i < n; i += 3) a.at(i, i) = -a.at(i, i);
  return a;
}

/// A system, its preconditioner (the identity unless set) and what a method did with it.
struct Trial {
  comm::Comm comm = comm::Comm::world();
  Dense a;
  Dense m = identity(a.n);
  std::vector<double> b = std::vector<double>(a.n, 1.0);   ///< global
  std::vector<double> x0 = std::vector<double>(a.n, 0.0);  ///< global
  sparse::RowPartition partition = sparse::RowPartition::even(a.n, comm::Comm::world().size());
  std::function<bool()> wants_stop = {};
  solvers::Progress progress = {};
  solvers::MethodOptions options = {};
  std::string orthogonalization = "ircgs";

  solvers::MethodResult result = {};
  std::vector<double> x = {};  ///< global, as the method left it
  std::int64_t reductions = 0;
  std::int64_t overlapped = 0;  ///< those of the reductions that were overlapped
  int products = 0;
  int preconditionings = 0;

  double b_norm() const { return norm_of(b); }
  static double norm_of(const std::vector<double>& v) {
    double largest = 0;
    for (double value : v) largest = std::max(largest, std::abs(value));
    if (largest == 0 || !std::isfinite(largest)) return largest;
    double sum = 0;
    for (double value : v) sum += (value / largest) * (value / largest);
    return largest * std::sqrt(sum);
  }
  /// ||b - A x||, recomputed.
  double true_residual() const {
    std::vector<double> r = b;
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t j = 0; j < a.n; ++j) r[i] -= a.at(i, j) * x[j];
    return norm_of(r);
  }

  /// Collective. The target is options.target, or `rtol` times ||b|| if that is set.
  Trial& run(std::string_view method, double rtol = 0) {
    const Range mine = partition.range(comm.rank());
    const auto local = [&](const std::vector<double>& v) {
      return std::vector<double>(v.begin() + mine.begin, v.begin() + mine.end);
    };
    const DenseOperator op(comm, a, partition);
    const DenseOperator preconditioner(comm, m, partition);
    const solvers::GlobalSum sum(comm, wants_stop);
    const std::vector<double> local_b = local(b);
    std::vector<double> local_x = local(x0);
    if (rtol > 0) options.target = rtol * b_norm();
    const auto apply = solvers::orthogonalization(orthogonalization).apply;
    result =
        solvers::method(method).solve({op, preconditioner, local_b, sum}, local_x, options, apply, progress);
    x = comm.allgatherv(std::span<const double>(local_x)).values;
    reductions = sum.count();
    overlapped = sum.overlapped();
    products = op.products;
    preconditionings = preconditioner.products;
    return *this;
  }

  std::string describe() const {
    return std::string(name_of(result.stop)) + " after " + std::to_string(result.iterations) + ": " +
           result.reason;
  }
};

}  // namespace ayatori::tests
