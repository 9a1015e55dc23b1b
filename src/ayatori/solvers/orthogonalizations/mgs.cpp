#include <cmath>

#include "ayatori/solvers/orthogonalizations/orthogonalizations.hpp"

namespace ayatori::solvers {

namespace {

/// Modified Gram-Schmidt: one vector after the other, k + 1 reductions. Each pass removes v_j and forms the
/// product with v_(j+1): traffic 4 k + 2. Loses orthogonality in proportion to the condition (Bjorck 1967).
double apply_mgs(const GlobalSum& sum, const Basis& basis, Vector w, std::span<double> h) {
  const auto column = [&](int j) { return ConstVector(basis.data + j * basis.stride, w.size()); };
  if (basis.size == 0) return norm(sum, w);
  h[0] = dot(sum, column(0), w);
  for (int j = 0; j + 1 < basis.size; ++j) h[j + 1] = sum(axpy_dot(-h[j], column(j), w, column(j + 1)));
  const int last = basis.size - 1;
  return std::sqrt(sum(axpy_square(-h[last], column(last), w)));
}

}  // namespace

const Orthogonalization mgs_orthogonalization{
    .name = "mgs",
    .description = "modified Gram-Schmidt: a reduction for every vector, stabler than cgs",
    .apply = apply_mgs};

}  // namespace ayatori::solvers
