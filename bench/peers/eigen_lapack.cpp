#include "eigen_peer.hpp"

extern "C" {
void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info);
void dsyevr_(const char* job, const char* range, const char* uplo, const int* n, double* a, const int* lda,
             const double* vl, const double* vu, const int* il, const int* iu, const double* abstol, int* m,
             double* w, double* z, const int* ldz, int* isuppz, double* work, const int* lwork, int* iwork,
             const int* liwork, int* info);
}

namespace ayatori::bench {

namespace {

/// Calls a LAPACK routine twice: for the sizes of its work space, and to work.
void with_work_space(
    const std::function<void(double* work, const int* lwork, int* iwork, const int* liwork)>& call) {
  double size = 0;
  int integers = 0;
  const int ask = -1;
  call(&size, &ask, &integers, &ask);
  std::vector<double> work(static_cast<std::size_t>(size));
  std::vector<int> iwork(integers);
  const int lwork = static_cast<int>(size);
  call(work.data(), &lwork, iwork.data(), &integers);
}

std::vector<double> by_dsyevd(std::vector<double>& a, int n) {
  std::vector<double> w(n);
  int info = 0;
  with_work_space([&](double* work, const int* lwork, int* iwork, const int* liwork) {
    dsyevd_("V", "L", &n, a.data(), &n, w.data(), work, lwork, iwork, liwork, &info);
  });
  return w;
}

std::vector<double> by_dsyevr(std::vector<double>& a, int n) {
  std::vector<double> w(n);
  std::vector<double> z(a.size());
  std::vector<int> support(2 * w.size());
  const double none = 0;
  const int zero = 0;
  int found = 0;
  int info = 0;
  with_work_space([&](double* work, const int* lwork, int* iwork, const int* liwork) {
    dsyevr_("V", "A", "L", &n, a.data(), &n, &none, &none, &zero, &zero, &none, &found, w.data(), z.data(),
            &n, support.data(), work, lwork, iwork, liwork, &info);
  });
  return w;
}

template <class Solve>
EigenPeer peer(const char* name, Solve solve) {
  return {name, false, [solve](const std::vector<double>& a, int n) {
            return [solve, copy = std::vector<double>(a), n]() mutable { return solve(copy, n); };
          }};
}

}  // namespace

std::vector<EigenPeer> lapack_peers() {
  return {peer("dsyevd", by_dsyevd), peer("dsyevr", by_dsyevr)};
}

}  // namespace ayatori::bench
