#include "ayatori/eigen/blas.hpp"

#include <algorithm>
#include <vector>

#include "ayatori/base/parallel.hpp"

extern "C" {
void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
void dgemv_(const char* op, const int* m, const int* n, const double* alpha, const double* a, const int* lda,
            const double* x, const int* incx, const double* beta, double* y, const int* incy);
void dsymv_(const char* uplo, const int* n, const double* alpha, const double* a, const int* lda,
            const double* x, const int* incx, const double* beta, double* y, const int* incy);
void dsyrk_(const char* uplo, const char* op, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* beta, double* c, const int* ldc);
void dtrmm_(const char* side, const char* uplo, const char* op, const char* diagonal, const int* m,
            const int* n, const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
void dtrsm_(const char* side, const char* uplo, const char* op, const char* diagonal, const int* m,
            const int* n, const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dlarft_(const char* direction, const char* storage, const int* n, const int* k, const double* v,
             const int* ldv, const double* tau, double* t, const int* ldt);
void dgeqrt3_(const int* m, const int* n, double* a, const int* lda, double* t, const int* ldt, int* info);
void dsterf_(const int* n, double* d, double* e, int* info);
void dsteqr_(const char* job, const int* n, double* d, double* e, double* z, const int* ldz, double* work,
             int* info);
void dsyev_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w,
            double* work, const int* lwork, int* info);
void dlaed4_(const int* n, const int* i, const double* d, const double* z, double* delta, const double* rho,
             double* root, int* info);

// Only OpenBLAS has these.
[[gnu::weak]] void openblas_set_num_threads(int threads);
[[gnu::weak]] int openblas_get_num_threads();
}

namespace ayatori::eigen {

namespace {

int narrow(std::int64_t n) {
  return static_cast<int>(n);
}

/// BLAS wants at least 1 also where there is nothing.
int leading(const ConstBlock& block) {
  return narrow(std::max<std::int64_t>(block.leading, 1));
}

constexpr int one = 1;

}  // namespace

void multiply(double alpha, Op op_a, ConstBlock a, Op op_b, ConstBlock b, double beta, Block c) {
  if (c.rows == 0 || c.columns == 0) return;
  const char ta = static_cast<char>(op_a);
  const char tb = static_cast<char>(op_b);
  const int m = narrow(c.rows);
  const int n = narrow(c.columns);
  const int k = narrow(op_a == Op::none ? a.columns : a.rows);
  const int lda = leading(a);
  const int ldb = leading(b);
  const int ldc = leading(c);
  dgemm_(&ta, &tb, &m, &n, &k, &alpha, a.data, &lda, b.data, &ldb, &beta, c.data, &ldc);
}

void multiply(double alpha, Op op_a, ConstBlock a, const double* x, double beta, double* y) {
  const char op = static_cast<char>(op_a);
  const int m = narrow(a.rows);
  const int n = narrow(a.columns);
  const int lda = leading(a);
  if (m == 0 || n == 0) {  // BLAS would leave y as it is
    if (beta == 0) std::fill_n(y, op_a == Op::none ? m : n, 0.0);
    return;
  }
  dgemv_(&op, &m, &n, &alpha, a.data, &lda, x, &one, &beta, y, &one);
}

void multiply_symmetric(ConstBlock a, const double* x, double* y) {
  const int n = narrow(a.rows);
  const int lda = leading(a);
  const double alpha = 1;
  const double beta = 0;
  dsymv_("L", &n, &alpha, a.data, &lda, x, &one, &beta, y, &one);
}

void gram(ConstBlock a, Block c) {
  const int n = narrow(a.columns);
  const int k = narrow(a.rows);
  const int lda = leading(a);
  const int ldc = leading(c);
  const double alpha = 1;
  const double beta = 0;
  dsyrk_("L", "T", &n, &k, &alpha, a.data, &lda, &beta, c.data, &ldc);
}

void multiply_upper_triangular(Side side, Op op, ConstBlock t, Block b) {
  if (b.rows == 0 || b.columns == 0) return;
  const char from = static_cast<char>(side);
  const char transposed = static_cast<char>(op);
  const int m = narrow(b.rows);
  const int n = narrow(b.columns);
  const int ldt = leading(t);
  const int ldb = leading(b);
  const double alpha = 1;
  dtrmm_(&from, "U", &transposed, "N", &m, &n, &alpha, t.data, &ldt, b.data, &ldb);
}

void factor_qr(Block a, Block t) {
  const int m = narrow(a.rows);
  const int n = narrow(a.columns);
  const int lda = leading(a);
  const int ldt = leading(t);
  int info = 0;
  dgeqrt3_(&m, &n, a.data, &lda, t.data, &ldt, &info);
}

void block_reflector(ConstBlock v, const double* tau, Block t) {
  const int n = narrow(v.rows);
  const int k = narrow(v.columns);
  const int ldv = leading(v);
  const int ldt = leading(t);
  dlarft_("F", "C", &n, &k, v.data, &ldv, tau, t.data, &ldt);
}

std::int64_t factor_cholesky(Block a) {
  const int n = narrow(a.rows);
  const int lda = leading(a);
  int info = 0;
  dpotrf_("L", &n, a.data, &lda, &info);
  return info;
}

void solve_lower(Side side, Op op, ConstBlock l, Block b) {
  if (b.rows == 0 || b.columns == 0) return;
  const char from = static_cast<char>(side);
  const char transposed = static_cast<char>(op);
  const int m = narrow(b.rows);
  const int n = narrow(b.columns);
  const int ldl = leading(l);
  const int ldb = leading(b);
  const double alpha = 1;
  dtrsm_(&from, "L", &transposed, "N", &m, &n, &alpha, l.data, &ldl, b.data, &ldb);
}

bool tridiagonal_values(std::int64_t n, double* diagonal, double* off_diagonal) {
  const int order = narrow(n);
  int info = 0;
  dsterf_(&order, diagonal, off_diagonal, &info);
  return info == 0;
}

bool tridiagonal_vectors(std::int64_t n, double* diagonal, double* off_diagonal, Block vectors) {
  const int order = narrow(n);
  const int ld = leading(vectors);
  std::vector<double> work(static_cast<std::size_t>(std::max<std::int64_t>(1, 2 * n)));
  int info = 0;
  dsteqr_("I", &order, diagonal, off_diagonal, vectors.data, &ld, work.data(), &info);
  return info == 0;
}

bool symmetric_pairs(Block a, double* values) {
  const int n = narrow(a.rows);
  const int lda = leading(a);
  constexpr int columns = 34;  // of work for each row: a panel of 32, as LAPACK wants it, and 2
  const int length = std::max(1, columns * n);
  std::vector<double> work(length);
  int info = 0;
  dsyev_("V", "L", &n, a.data, &lda, values, work.data(), &length, &info);
  return info == 0;
}

bool secular_root(std::int64_t n, std::int64_t j, const double* d, const double* z, double rho,
                  double* delta) {
  const int order = narrow(n);
  const int index = narrow(j) + 1;
  double root = 0;
  int info = 0;
  dlaed4_(&order, &index, d, z, delta, &rho, &root, &info);
  return info == 0;
}

BlasThreads::BlasThreads() {
  if (openblas_get_num_threads == nullptr || openblas_set_num_threads == nullptr) return;
  before_ = openblas_get_num_threads();
  openblas_set_num_threads(max_threads());
}

BlasThreads::~BlasThreads() {
  if (before_ > 0) openblas_set_num_threads(before_);
}

}  // namespace ayatori::eigen
