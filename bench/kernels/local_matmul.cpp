#include "bench/kernels/local_matmul.hpp"

#include <algorithm>
#include <array>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/range.hpp"
#include "bench/kernels/tiled_matmul.hpp"

// BLAS has no header of its own. A BLAS that has threads of its own is told how many; by this name, if it is
// OpenBLAS.
extern "C" {
void dgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
[[gnu::weak]] void openblas_set_num_threads(int threads);
}

namespace ayatori::bench {

namespace {

/// Three loops, kept to check the others by.
void reference_product(const LocalProduct& p) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t l = 0; l < p.k; ++l) {
      for (std::int64_t j = 0; j < p.n; ++j)
        p.c[i * p.c_row + j] += p.a[i * p.a_row + l] * p.b[l * p.b_row + j];
    }
  }
}

/// BLAS thinks by columns: C^T += B^T A^T.
void blas_product(const LocalProduct& p) {
  if (p.m == 0 || p.n == 0 || p.k == 0) return;
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(max_threads());
  const std::int64_t parts = p.progress ? std::min<std::int64_t>(4, p.m) : 1;
  for (std::int64_t part = 0; part < parts; ++part) {
    const Range rows = split_evenly(p.m, parts, part);
    const int m = static_cast<int>(rows.size());
    const int n = static_cast<int>(p.n);
    const int k = static_cast<int>(p.k);
    const int a_row = static_cast<int>(p.a_row);
    const int b_row = static_cast<int>(p.b_row);
    const int c_row = static_cast<int>(p.c_row);
    constexpr double one = 1;
    dgemm_("N", "N", &n, &m, &k, &one, p.b, &b_row, p.a + rows.begin * p.a_row, &a_row, &one,
           p.c + rows.begin * p.c_row, &c_row);
    if (p.progress) p.progress();
  }
}

constexpr std::array types{
    LocalProductType{"own", "packed, register-tiled, AVX2 or AVX-512 at run time", tiled_product},
    LocalProductType{"blas", "dgemm of the BLAS", blas_product},
    LocalProductType{"reference", "three loops, one thread", reference_product},
};

}  // namespace

std::span<const LocalProductType> local_products() {
  return types;
}

}  // namespace ayatori::bench
