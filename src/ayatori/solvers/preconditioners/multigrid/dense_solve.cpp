#include "ayatori/solvers/preconditioners/multigrid/dense_solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ayatori/base/error.hpp"

extern "C" {
void dpotrf_(const char* triangle, const int* n, double* a, const int* lda, int* info);
void dpotri_(const char* triangle, const int* n, double* a, const int* lda, int* info);
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* pivot, int* info);
void dgetri_(const int* n, double* a, const int* lda, const int* pivot, double* work, const int* size,
             int* info);
void dgesdd_(const char* job, const int* m, const int* n, double* a, const int* lda, double* s, double* u,
             const int* ldu, double* vt, const int* ldvt, double* work, const int* size, int* iwork,
             int* info);
void dsyevd_(const char* job, const char* triangle, const int* n, double* a, const int* lda, double* w,
             double* work, const int* size, int* iwork, const int* isize, int* info);
void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
void dsterf_(const int* n, double* d, double* e, int* info);

// Only OpenBLAS has these.
[[gnu::weak]] void openblas_set_num_threads(int threads);
[[gnu::weak]] int openblas_get_num_threads();
}

namespace ayatori::solvers::amg {

namespace {

/// An inverse larger than this, for a matrix of entries of about 1, is one of rounding errors.
constexpr double largest_inverse = 1e13;
/// Singular values below this share of the largest, and eigenvalues, are those of the null space.
constexpr double negligible = 1e-12;

double max_abs(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values)
    largest = std::isfinite(v) ? std::max(largest, std::abs(v)) : std::numeric_limits<double>::infinity();
  return largest;
}

/// LAPACK on one thread, as long as this lives: for matrices of a few hundred rows, waking others costs more
/// than they save, and a hundred times that where they have to wait for a processor.
class OneBlasThread {
 public:
  OneBlasThread() {
    if (openblas_get_num_threads == nullptr || openblas_set_num_threads == nullptr) return;
    before_ = openblas_get_num_threads();
    if (before_ > 1) openblas_set_num_threads(1);
  }
  ~OneBlasThread() {
    if (before_ > 1) openblas_set_num_threads(before_);
  }
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  int before_ = 0;
};

}  // namespace

DenseInverse::DenseInverse(std::int64_t n, std::vector<double> matrix, bool symmetric,
                           const std::vector<std::vector<double>>& null_vectors)
    : n_(static_cast<int>(n)), value_(std::move(matrix)) {
  if (n_ == 0) return;
  const OneBlasThread alone;
  if (!null_vectors.empty()) {
    // A + V V^T is regular, and its inverse maps what is orthogonal to V as the pseudo-inverse of A does.
    for (const auto& v : null_vectors)
      for (int i = 0; i < n_; ++i)
        for (int j = 0; j < n_; ++j) value_[std::size_t(i) * n_ + j] += v[i] * v[j];
    invert(symmetric);
    for (const auto& v : null_vectors) take_out(v, symmetric);
    singular_ = true;
    return;
  }
  invert(symmetric);
}

void DenseInverse::invert(bool symmetric) {
  const std::vector<double> original = value_;
  const double scale = max_abs(original);
  const auto is_usable = [&] { return max_abs(value_) * scale < largest_inverse; };
  if (!std::isfinite(scale)) throw InputError("amg: the matrix of the coarsest grid is not finite");
  if (symmetric) {
    if (invert_definite() && is_usable()) return;
    value_ = original;
    invert_by_eigenvalues();
    return;
  }
  if (invert_general() && is_usable()) return;
  value_ = original;
  pseudo_invert();
  singular_ = true;
}

/// X = (I - v v^T) X, and from the other side too where that is to stay symmetric.
void DenseInverse::take_out(const std::vector<double>& v, bool symmetric) {
  const auto at = [&](int i, int j) -> double& { return value_[std::size_t(i) * n_ + j]; };
  for (int i = 0; i < n_; ++i) {
    double sum = 0;
    for (int j = 0; j < n_; ++j) sum += v[j] * at(j, i);
    for (int j = 0; j < n_; ++j) at(j, i) -= sum * v[j];
  }
  if (!symmetric) return;
  for (int i = 0; i < n_; ++i) {
    double sum = 0;
    for (int j = 0; j < n_; ++j) sum += v[j] * at(i, j);
    for (int j = 0; j < n_; ++j) at(i, j) -= sum * v[j];
  }
  for (int i = 0; i < n_; ++i)
    for (int j = 0; j < i; ++j) at(i, j) = at(j, i);
}

bool DenseInverse::invert_definite() {
  int info = 0;
  dpotrf_("L", &n_, value_.data(), &n_, &info);
  if (info != 0) return false;
  dpotri_("L", &n_, value_.data(), &n_, &info);
  if (info != 0) return false;
  for (int j = 0; j < n_; ++j)
    for (int i = 0; i < j; ++i) value_[std::size_t(j) * n_ + i] = value_[std::size_t(i) * n_ + j];
  return true;
}

bool DenseInverse::invert_general() {
  std::vector<int> pivot(n_);
  std::vector<double> work(std::size_t(n_) * 32);
  const int size = static_cast<int>(work.size());
  int info = 0;
  dgetrf_(&n_, &n_, value_.data(), &n_, pivot.data(), &info);
  if (info != 0) return false;
  dgetri_(&n_, value_.data(), &n_, pivot.data(), work.data(), &size, &info);
  return info == 0;
}

void DenseInverse::pseudo_invert() {
  const std::size_t entries = std::size_t(n_) * n_;
  std::vector<double> u(entries);
  std::vector<double> vt(entries);
  std::vector<double> s(n_);
  std::vector<int> iwork(std::size_t(8) * n_);
  std::vector<double> work(std::size_t(n_) * (4 * std::size_t(n_) + 40));
  const int size = static_cast<int>(work.size());
  int info = 0;
  dgesdd_("A", &n_, &n_, value_.data(), &n_, s.data(), u.data(), &n_, vt.data(), &n_, work.data(), &size,
          iwork.data(), &info);
  if (info != 0) throw InputError("amg: the matrix of the coarsest grid has no singular value decomposition");
  // V S^+ U^T
  for (int k = 0; k < n_; ++k) {
    const double inverse = s[k] > negligible * s[0] && s[k] > 0 ? 1 / s[k] : 0;
    for (int j = 0; j < n_; ++j) vt[std::size_t(j) * n_ + k] *= inverse;
  }
  const double one = 1;
  const double zero = 0;
  dgemm_("T", "T", &n_, &n_, &n_, &one, vt.data(), &n_, u.data(), &n_, &zero, value_.data(), &n_);
}

void DenseInverse::invert_by_eigenvalues() {
  std::vector<double> lambda(n_);
  std::vector<double> work(1 + std::size_t(n_) * (6 + 2 * std::size_t(n_)));
  std::vector<int> iwork(3 + std::size_t(5) * n_);
  const int size = static_cast<int>(work.size());
  const int isize = static_cast<int>(iwork.size());
  int info = 0;
  dsyevd_("V", "L", &n_, value_.data(), &n_, lambda.data(), work.data(), &size, iwork.data(), &isize, &info);
  if (info != 0) throw InputError("amg: the matrix of the coarsest grid has no eigenvalues");
  // V Lambda^+ V^T
  const double largest = max_abs(lambda);
  std::vector<double> scaled(value_.size());
  for (int k = 0; k < n_; ++k) {
    const bool is_null = !(std::abs(lambda[k]) > negligible * largest);
    singular_ = singular_ || is_null;
    for (int i = 0; i < n_; ++i) {
      const std::size_t at = std::size_t(k) * n_ + i;
      scaled[at] = is_null ? 0 : value_[at] / lambda[k];
    }
  }
  const std::vector<double> vectors = std::move(value_);
  value_.resize(vectors.size());
  const double one = 1;
  const double zero = 0;
  dgemm_("N", "T", &n_, &n_, &n_, &one, scaled.data(), &n_, vectors.data(), &n_, &zero, value_.data(), &n_);
  for (int j = 0; j < n_; ++j)
    for (int i = 0; i < j; ++i) value_[std::size_t(j) * n_ + i] = value_[std::size_t(i) * n_ + j];
}

void DenseInverse::apply(std::span<const double> x, std::span<double> y) const {
  for (int i = 0; i < n_; ++i) {
    const double* row = &value_[std::size_t(i) * n_];  // LAPACK's columns are those of the transpose
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < n_; ++j) sum += row[j] * x[j];
    y[i] = sum;
  }
}

std::vector<std::vector<double>> find_null_vectors(const std::vector<double>& matrix,
                                                   std::span<const double> near_null, int unknowns) {
  constexpr double rounding = 1e-5;  // rounding of prolongators in float, over the grids
  const std::size_t n = near_null.size();
  std::vector<std::vector<double>> found;
  std::vector<bool> seen(n, false);
  std::vector<std::size_t> component;
  for (std::size_t root = 0; root < n; ++root) {
    if (seen[root]) continue;
    seen[root] = true;
    component.assign(1, root);
    for (std::size_t k = 0; k < component.size(); ++k)
      for (std::size_t j = 0; j < n; ++j)
        if (!seen[j] && (matrix[component[k] * n + j] != 0 || matrix[j * n + component[k]] != 0)) {
          seen[j] = true;
          component.push_back(j);
        }
    for (int c = 0; c < unknowns; ++c) {
      std::vector<double> v(n, 0.0);
      double square = 0;
      for (const std::size_t i : component)
        if (static_cast<int>(i % unknowns) == c) square += (v[i] = near_null[i]) * v[i];
      if (square == 0) continue;
      for (double& value : v) value /= std::sqrt(square);
      double residual = 0;
      for (const std::size_t i : component) {
        double sum = 0;
        for (const std::size_t j : component) sum += matrix[i * n + j] * v[j];
        residual += sum * sum;
      }
      if (std::sqrt(residual) <= rounding) found.push_back(std::move(v));
    }
  }
  return found;
}

double largest_eigenvalue(std::vector<double> diagonal, std::vector<double> beside) {
  const int n = static_cast<int>(diagonal.size());
  if (n == 0) return 0;
  beside.resize(n);
  int info = 0;
  dsterf_(&n, diagonal.data(), beside.data(), &info);
  return info == 0 ? diagonal.back() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace ayatori::solvers::amg
