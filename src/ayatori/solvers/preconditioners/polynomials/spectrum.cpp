#include "ayatori/solvers/preconditioners/polynomials/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers {

namespace {

constexpr int lanczos_steps = 10;
constexpr double safety = 1.1;
constexpr int largest_degree = 100;

/// Adds the row sums of |D^-1 A| over one part of the matrix; row r of `part` is local row local_row(r).
template <class F>
void add_row_sums(const sparse::Csr& part, const Array<double>& inverse_diagonal, F&& local_row,
                  Array<double>& row_sum) {
  parallel_for(part.rows, [&](std::int64_t r) {
    const std::int64_t i = local_row(r);
    double sum = 0;
    for (std::int64_t k = part.row_start[r]; k < part.row_start[r + 1]; ++k)
      sum += std::abs(part.value[k] * inverse_diagonal[i]);
    row_sum[i] += sum;
  });
}

/// The symmetric tridiagonal matrix of Lanczos, as far as it has got.
struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;

  /// Whether all eigenvalues are below x, by the signs of the pivots of T - x I (Sylvester).
  bool is_below(double x) const {
    double pivot = -1;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      pivot = diagonal[i] - x - (i == 0 ? 0 : beside[i - 1] * beside[i - 1] / pivot);
      if (!(pivot < 0)) return false;
    }
    return true;
  }

  /// By bisection, to 1e-6 of the norm.
  double largest_eigenvalue() const {
    double bound = 0;
    for (std::size_t i = 0; i < diagonal.size(); ++i)
      bound = std::max(
          bound, std::abs(diagonal[i]) + (i > 0 ? beside[i - 1] : 0) + (i < beside.size() ? beside[i] : 0));
    double low = -bound;
    double high = bound;
    while (high - low > 1e-6 * bound) {
      const double middle = (low + high) / 2;
      (is_below(middle) ? high : low) = middle;
    }
    return high;
  }
};

/// Lanczos for D^-1 A: vectors orthonormal in the inner product of |D|.
class Lanczos {
 public:
  Lanczos(const sparse::DistributedMatrix& matrix, const Array<double>& inverse_diagonal,
          const GlobalSum& sum)
      : matrix_(matrix),
        inverse_(inverse_diagonal),
        sum_(sum),
        v_(inverse_.size()),
        previous_(inverse_.size()),
        w_(inverse_.size()) {
    const std::int64_t first_row = matrix.partition().range(matrix.comm().rank()).begin;
    parallel_for(size(), [&](std::int64_t i) {
      v_[i] = 0;
      previous_[i] = 0;
      w_[i] = random_uniform(1, first_row + i) - 0.5;
    });
  }

  /// Collective.
  Tridiagonal run(int steps) {
    Tridiagonal t;
    if (!(normalize() > 0)) return t;
    for (double before = 0;;) {
      t.diagonal.push_back(extend(before));
      before = normalize();
      // A new direction that is rounding noise beside the old ones is none.
      const bool ended = !(before > 1e-10 * std::abs(t.diagonal[0]));
      if (ended || static_cast<int>(t.diagonal.size()) == steps) break;
      t.beside.push_back(before);
    }
    return t;
  }

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(v_.size()); }

  /// v = w / ||w||, and the norm.
  double normalize() {
    const double squared = sum_(parallel_sum(size(), [&](Range range) {
      double local = 0;
      for (std::int64_t i = range.begin; i < range.end; ++i) local += w_[i] * (w_[i] / std::abs(inverse_[i]));
      return local;
    }));
    const double norm = std::sqrt(squared);
    const double factor = norm > 0 ? 1 / norm : 0;
    parallel_for(size(), [&](std::int64_t i) { v_[i] = factor * w_[i]; });
    return norm;
  }

  /// One step: w = D^-1 A v, orthogonal to v and the one before; gives the diagonal entry.
  double extend(double beside) {
    matrix_.apply(v_, w_);
    const double alpha = dot(sum_, v_, w_);
    parallel_for(size(), [&](std::int64_t i) {
      w_[i] = inverse_[i] * w_[i] - alpha * v_[i] - beside * previous_[i];
      previous_[i] = v_[i];
    });
    return alpha;
  }

  const sparse::DistributedMatrix& matrix_;
  const Array<double>& inverse_;
  const GlobalSum& sum_;
  Array<double> v_;
  Array<double> previous_;
  Array<double> w_;
};

}  // namespace

double gershgorin_bound(const sparse::DistributedMatrix& matrix, const Array<double>& inverse_diagonal) {
  const sparse::SplitMatrix& parts = matrix.parts();
  const double largest = comm::agree(matrix.comm(), [&] {
    Array<double> row_sum(inverse_diagonal.size());
    parallel_for(parts.interior.rows, [&](std::int64_t i) { row_sum[i] = 0; });
    add_row_sums(
        parts.interior, inverse_diagonal, [](std::int64_t r) { return r; }, row_sum);
    add_row_sums(
        parts.halo, inverse_diagonal, [&](std::int64_t r) { return parts.halo_rows[r]; }, row_sum);
    return row_sum.empty() ? 0 : *std::max_element(row_sum.begin(), row_sum.end());
  });
  return matrix.comm().allreduce(largest, comm::ReduceOp::max);
}

double lanczos_estimate(const sparse::DistributedMatrix& matrix, const Array<double>& inverse_diagonal,
                        const GlobalSum& sum, int steps) {
  auto lanczos = comm::agree(matrix.comm(), [&] { return Lanczos(matrix, inverse_diagonal, sum); });
  return lanczos.run(steps).largest_eigenvalue();
}

double spectrum_bound(const sparse::DistributedMatrix& matrix, const Array<double>& inverse_diagonal,
                      const GlobalSum& sum, int degree) {
  const double bound = gershgorin_bound(matrix, inverse_diagonal);
  if (degree % 2 == 1) return bound > 0 ? bound : 1;
  const double estimate = safety * lanczos_estimate(matrix, inverse_diagonal, sum, lanczos_steps);
  const double lower = std::isfinite(estimate) ? std::max(estimate, 1.0) : bound;
  return bound > 0 ? std::min(bound, lower) : 1;
}

void check_degree(std::string_view who, int degree) {
  if (degree < 0 || degree > largest_degree)
    throw_error(ErrorKind::bad_input, fmt::format("{}: degree {}, want 0 to {}", who, degree, largest_degree),
                true);
}

}  // namespace ayatori::solvers
