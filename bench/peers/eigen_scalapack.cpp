#include <algorithm>
#include <memory>

#include "ayatori/comm/comm.hpp"
#include "eigen_peer.hpp"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void descinit_(int* descriptor, const int* m, const int* n, const int* mb, const int* nb, const int* row,
               const int* column, const int* context, const int* leading, int* info);
void pdsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* ia, const int* ja,
              const int* of_a, double* w, double* z, const int* iz, const int* jz, const int* of_z,
              double* work, const int* lwork, int* iwork, const int* liwork, int* info);
void pdsyevr_(const char* job, const char* range, const char* uplo, const int* n, double* a, const int* ia,
              const int* ja, const int* of_a, const double* vl, const double* vu, const int* il,
              const int* iu, int* found, int* vectors, double* w, double* z, const int* iz, const int* jz,
              const int* of_z, double* work, const int* lwork, int* iwork, const int* liwork, int* info);
}

namespace ayatori::bench {

namespace {

constexpr int one = 1;
constexpr int zero = 0;

/// A BLACS context of all ranks, by rows; it lives as long as the program.
int make_context(eigen::GridShape shape) {
  int context = 0;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", shape.rows, shape.columns);
  return context;
}

/// What a call works on: the share of A, room for Z, and their descriptor.
struct Operands {
  int n;
  std::vector<double> a;
  std::vector<double> z;
  std::vector<double> w;
  int descriptor[9];
};

Operands make_operands(const BlockCyclic& layout, int context, const std::vector<double>& a, int n) {
  Operands operands{n, layout.share(a, n), {}, std::vector<double>(n), {}};
  operands.z.resize(operands.a.size());
  const int leading = std::max(1, static_cast<int>(layout.rows(n).size()));
  int info = 0;
  descinit_(operands.descriptor, &n, &n, &BlockCyclic::block, &BlockCyclic::block, &zero, &zero, &context,
            &leading, &info);
  return operands;
}

std::vector<double> by_pdsyevd(Operands& x) {
  int info = 0;
  const auto call = [&](double* work, int lwork, int* iwork, int liwork) {
    pdsyevd_("V", "L", &x.n, x.a.data(), &one, &one, x.descriptor, x.w.data(), x.z.data(), &one, &one,
             x.descriptor, work, &lwork, iwork, &liwork, &info);
  };
  double size = 0;
  int integers = 0;
  call(&size, -1, &integers, -1);
  std::vector<double> work(static_cast<std::size_t>(size));
  std::vector<int> iwork(integers);
  call(work.data(), static_cast<int>(size), iwork.data(), integers);
  return x.w;
}

std::vector<double> by_pdsyevr(Operands& x) {
  int info = 0;
  const double none = 0;
  int found = 0;
  int vectors = 0;
  const auto call = [&](double* work, int lwork, int* iwork, int liwork) {
    pdsyevr_("V", "A", "L", &x.n, x.a.data(), &one, &one, x.descriptor, &none, &none, &one, &x.n, &found,
             &vectors, x.w.data(), x.z.data(), &one, &one, x.descriptor, work, &lwork, iwork, &liwork, &info);
  };
  std::vector<double> sizes(5);
  std::vector<int> integers(5);
  call(sizes.data(), -1, integers.data(), -1);
  std::vector<double> work(static_cast<std::size_t>(sizes[0]));
  std::vector<int> iwork(integers[0]);
  call(work.data(), static_cast<int>(sizes[0]), iwork.data(), integers[0]);
  return x.w;
}

}  // namespace

std::vector<EigenPeer> scalapack_peers(eigen::GridShape shape) {
  const int context = make_context(shape);
  const BlockCyclic layout(shape, comm::Comm::world().rank());
  const auto peer = [&](const char* name, std::vector<double> (*solve)(Operands&)) {
    return EigenPeer{name, true, [=](const std::vector<double>& a, int n) {
                       const auto operands = std::make_shared<Operands>(make_operands(layout, context, a, n));
                       return [=] { return solve(*operands); };
                     }};
  };
  return {peer("pdsyevd", by_pdsyevd), peer("pdsyevr", by_pdsyevr)};
}

}  // namespace ayatori::bench
