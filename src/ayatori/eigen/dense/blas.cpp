#include "ayatori/eigen/dense/blas.hpp"

#include <algorithm>
#include <vector>

#include "ayatori/base/parallel.hpp"

namespace {

template <class T>
using Gemm = void(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
                  const T* alpha, const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c,
                  const int* ldc);
template <class T>
using Gemv = void(const char* op, const int* m, const int* n, const T* alpha, const T* a, const int* lda,
                  const T* x, const int* incx, const T* beta, T* y, const int* incy);
template <class T>
using Symv = void(const char* uplo, const int* n, const T* alpha, const T* a, const int* lda, const T* x,
                  const int* incx, const T* beta, T* y, const int* incy);
template <class T>
using Trmm = void(const char* side, const char* uplo, const char* op, const char* diagonal, const int* m,
                  const int* n, const T* alpha, const T* a, const int* lda, T* b, const int* ldb);
template <class T>
using Syrk = void(const char* uplo, const char* op, const int* n, const int* k, const T* alpha, const T* a,
                  const int* lda, const T* beta, T* c, const int* ldc);
template <class T>
using Geqrt3 = void(const int* m, const int* n, T* a, const int* lda, T* t, const int* ldt, int* info);
template <class T>
using Sterf = void(const int* n, T* d, T* e, int* info);
template <class T>
using Steqr = void(const char* job, const int* n, T* d, T* e, T* z, const int* ldz, T* work, int* info);
template <class T>
using Laed4 = void(const int* n, const int* i, const T* d, const T* z, T* delta, const T* rho, T* root,
                   int* info);

}  // namespace

extern "C" {
void dtrsm_(const char* side, const char* uplo, const char* op, const char* diagonal, const int* m,
            const int* n, const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dsyev_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w,
            double* work, const int* lwork, int* info);
using SchurSelection = int(const double* real, const double* imaginary);
void dgees_(const char* job, const char* sort, SchurSelection* select, const int* n, double* a,
            const int* lda, int* sorted, double* real, double* imaginary, double* vectors, const int* ldv,
            double* work, const int* lwork, int* is_selected, int* info);
void dtrexc_(const char* job, const int* n, double* t, const int* ldt, double* q, const int* ldq, int* from,
             int* to, double* work, int* info);

Gemm<double> dgemm_;
Gemm<float> sgemm_;
Gemv<double> dgemv_;
Gemv<float> sgemv_;
Symv<double> dsymv_;
Symv<float> ssymv_;
Trmm<double> dtrmm_;
Trmm<float> strmm_;
Syrk<double> dsyrk_;
Syrk<float> ssyrk_;
Geqrt3<double> dgeqrt3_;
Geqrt3<float> sgeqrt3_;
Sterf<double> dsterf_;
Sterf<float> ssterf_;
Steqr<double> dsteqr_;
Steqr<float> ssteqr_;
Laed4<double> dlaed4_;
Laed4<float> slaed4_;

// Only OpenBLAS has these.
[[gnu::weak]] void openblas_set_num_threads(int threads);
[[gnu::weak]] int openblas_get_num_threads();
}

namespace ayatori::eigen {

namespace {

/// The routines of one scalar type.
template <class T>
struct Routines;

template <>
struct Routines<double> {
  static constexpr auto gemm = dgemm_;
  static constexpr auto gemv = dgemv_;
  static constexpr auto symv = dsymv_;
  static constexpr auto trmm = dtrmm_;
  static constexpr auto syrk = dsyrk_;
  static constexpr auto geqrt3 = dgeqrt3_;
  static constexpr auto sterf = dsterf_;
  static constexpr auto steqr = dsteqr_;
  static constexpr auto laed4 = dlaed4_;
};

template <>
struct Routines<float> {
  static constexpr auto gemm = sgemm_;
  static constexpr auto gemv = sgemv_;
  static constexpr auto symv = ssymv_;
  static constexpr auto trmm = strmm_;
  static constexpr auto syrk = ssyrk_;
  static constexpr auto geqrt3 = sgeqrt3_;
  static constexpr auto sterf = ssterf_;
  static constexpr auto steqr = ssteqr_;
  static constexpr auto laed4 = slaed4_;
};

int narrow(std::int64_t n) {
  return static_cast<int>(n);
}

/// BLAS wants at least 1 also where there is nothing.
template <class T>
int leading(const ConstBlockOf<T>& block) {
  return narrow(std::max<std::int64_t>(block.leading, 1));
}

template <class T>
int leading(const BlockOf<T>& block) {
  return leading<T>(ConstBlockOf<T>(block));
}

constexpr int one = 1;

}  // namespace

template <class T>
void multiply(Number<T> alpha, Op op_a, Const<T> a, Op op_b, Const<T> b, Number<T> beta, Mutable<T> c) {
  if (c.rows == 0 || c.columns == 0) return;
  const char ta = static_cast<char>(op_a);
  const char tb = static_cast<char>(op_b);
  const int m = narrow(c.rows);
  const int n = narrow(c.columns);
  const int k = narrow(op_a == Op::none ? a.columns : a.rows);
  const int lda = leading(a);
  const int ldb = leading(b);
  const int ldc = leading(c);
  Routines<T>::gemm(&ta, &tb, &m, &n, &k, &alpha, a.data, &lda, b.data, &ldb, &beta, c.data, &ldc);
}

template <class T>
void multiply(Number<T> alpha, Op op_a, Const<T> a, const Number<T>* x, Number<T> beta, Number<T>* y) {
  const char op = static_cast<char>(op_a);
  const int m = narrow(a.rows);
  const int n = narrow(a.columns);
  const int lda = leading(a);
  if (m == 0 || n == 0) {  // BLAS would leave y as it is
    if (beta == 0) std::fill_n(y, op_a == Op::none ? m : n, T{0});
    return;
  }
  Routines<T>::gemv(&op, &m, &n, &alpha, a.data, &lda, x, &one, &beta, y, &one);
}

template <class T>
void multiply_symmetric(Const<T> a, const Number<T>* x, Number<T>* y) {
  const int n = narrow(a.rows);
  const int lda = leading(a);
  const T alpha = 1;
  const T beta = 0;
  Routines<T>::symv("L", &n, &alpha, a.data, &lda, x, &one, &beta, y, &one);
}

template <class T>
void gram(Const<T> a, Mutable<T> c) {
  const int n = narrow(a.columns);
  const int k = narrow(a.rows);
  const int lda = leading(a);
  const int ldc = leading(c);
  const T alpha = 1;
  const T beta = 0;
  Routines<T>::syrk("L", "T", &n, &k, &alpha, a.data, &lda, &beta, c.data, &ldc);
}

template <class T>
void multiply_upper_triangular(Side side, Op op, Const<T> t, Mutable<T> b) {
  if (b.rows == 0 || b.columns == 0) return;
  const char from = static_cast<char>(side);
  const char transposed = static_cast<char>(op);
  const int m = narrow(b.rows);
  const int n = narrow(b.columns);
  const int ldt = leading(t);
  const int ldb = leading(b);
  const T alpha = 1;
  Routines<T>::trmm(&from, "U", &transposed, "N", &m, &n, &alpha, t.data, &ldt, b.data, &ldb);
}

template <class T>
void factor_qr(Mutable<T> a, Mutable<T> t) {
  const int m = narrow(a.rows);
  const int n = narrow(a.columns);
  const int lda = leading(a);
  const int ldt = leading(t);
  int info = 0;
  Routines<T>::geqrt3(&m, &n, a.data, &lda, t.data, &ldt, &info);
}

template <class T>
void block_reflector(Const<T> v, const Number<T>* tau, Mutable<T> t) {
  gram<T>(v, t);
  // Column i of t is -tau_i t V^T v_i above the diagonal; row i of what is below holds V^T v_i.
  for (std::int64_t i = 0; i < v.columns; ++i) {
    T* const column = t.data + i * t.leading;
    std::fill_n(column, i, T{0});
    for (std::int64_t k = 0; k < i; ++k) {
      const T factor = -tau[i] * t.data[i + k * t.leading];
      const T* const before = t.data + k * t.leading;
      for (std::int64_t row = 0; row <= k; ++row) column[row] += factor * before[row];
    }
    column[i] = tau[i];
  }
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

template <class T>
bool tridiagonal_values(std::int64_t n, Number<T>* diagonal, Number<T>* off_diagonal) {
  const int order = narrow(n);
  int info = 0;
  Routines<T>::sterf(&order, diagonal, off_diagonal, &info);
  return info == 0;
}

template <class T>
bool tridiagonal_vectors(std::int64_t n, Number<T>* diagonal, Number<T>* off_diagonal, Mutable<T> vectors) {
  const int order = narrow(n);
  const int ld = leading(vectors);
  std::vector<T> work(static_cast<std::size_t>(std::max<std::int64_t>(1, 2 * n)));
  int info = 0;
  Routines<T>::steqr("I", &order, diagonal, off_diagonal, vectors.data, &ld, work.data(), &info);
  return info == 0;
}

bool symmetric_pairs(Block a, double* values) {
  const int n = narrow(a.rows);
  const int lda = leading(a);
  constexpr int columns = 34;  // columns of work for each row: a panel of 32, as LAPACK wants it, and 2
  const int length = std::max(1, columns * n);
  std::vector<double> work(length);
  int info = 0;
  dsyev_("V", "L", &n, a.data, &lda, values, work.data(), &length, &info);
  return info == 0;
}

bool schur_form(Block a, Block q) {
  const int n = narrow(a.rows);
  const int lda = leading(a);
  const int ldq = leading(q);
  constexpr int columns = 34;  // columns of work for each row, as for dsyev
  const int length = std::max(1, columns * n);
  std::vector<double> work(length);
  std::vector<double> values(2 * static_cast<std::size_t>(n));
  int sorted = 0;
  int unused = 0;
  int info = 0;
  dgees_("V", "N", nullptr, &n, a.data, &lda, &sorted, values.data(), values.data() + n, q.data, &ldq,
         work.data(), &length, &unused, &info);
  return info == 0;
}

void move_in_schur_form(Block t, Block q, std::int64_t from, std::int64_t to) {
  const int n = narrow(t.rows);
  const int ldt = leading(t);
  const int ldq = leading(q);
  int first = narrow(from) + 1;
  int last = narrow(to) + 1;
  std::vector<double> work(std::max(1, n));
  int info = 0;
  dtrexc_("V", &n, t.data, &ldt, q.data, &ldq, &first, &last, work.data(), &info);
}

template <class T>
bool secular_root(std::int64_t n, std::int64_t j, const Number<T>* d, const Number<T>* z, Number<T> rho,
                  Number<T>* delta) {
  const int order = narrow(n);
  const int index = narrow(j) + 1;
  T root = 0;
  int info = 0;
  Routines<T>::laed4(&order, &index, d, z, delta, &rho, &root, &info);
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

template void multiply<double>(double alpha, Op op_a, ConstBlockOf<double> a, Op op_b, ConstBlockOf<double> b,
                               double beta, BlockOf<double> c);
template void multiply<double>(double alpha, Op op_a, ConstBlockOf<double> a, const double* x, double beta,
                               double* y);
template void gram<double>(ConstBlockOf<double> a, BlockOf<double> c);
template void multiply_symmetric<double>(ConstBlockOf<double> a, const double* x, double* y);
template void multiply_upper_triangular<double>(Side side, Op op, ConstBlockOf<double> t, BlockOf<double> b);
template void factor_qr<double>(BlockOf<double> a, BlockOf<double> t);
template void block_reflector<double>(ConstBlockOf<double> v, const double* tau, BlockOf<double> t);
template bool tridiagonal_values<double>(std::int64_t n, double* diagonal, double* off_diagonal);
template bool tridiagonal_vectors<double>(std::int64_t n, double* diagonal, double* off_diagonal,
                                          BlockOf<double> vectors);
template bool secular_root<double>(std::int64_t n, std::int64_t j, const double* d, const double* z,
                                   double rho, double* delta);
template void multiply<float>(float alpha, Op op_a, ConstBlockOf<float> a, Op op_b, ConstBlockOf<float> b,
                              float beta, BlockOf<float> c);
template void multiply<float>(float alpha, Op op_a, ConstBlockOf<float> a, const float* x, float beta,
                              float* y);
template void gram<float>(ConstBlockOf<float> a, BlockOf<float> c);
template void multiply_symmetric<float>(ConstBlockOf<float> a, const float* x, float* y);
template void multiply_upper_triangular<float>(Side side, Op op, ConstBlockOf<float> t, BlockOf<float> b);
template void factor_qr<float>(BlockOf<float> a, BlockOf<float> t);
template void block_reflector<float>(ConstBlockOf<float> v, const float* tau, BlockOf<float> t);
template bool tridiagonal_values<float>(std::int64_t n, float* diagonal, float* off_diagonal);
template bool tridiagonal_vectors<float>(std::int64_t n, float* diagonal, float* off_diagonal,
                                         BlockOf<float> vectors);
template bool secular_root<float>(std::int64_t n, std::int64_t j, const float* d, const float* z, float rho,
                                  float* delta);

}  // namespace ayatori::eigen
