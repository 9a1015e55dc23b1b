#include "ayatori/solvers/orthogonalizations/gram_schmidt_pass.hpp"

namespace ayatori::solvers {

PassSquares gram_schmidt_pass(const GlobalSum& sum, const Basis& basis, Vector w, std::span<double> h) {
  const auto k = static_cast<std::size_t>(basis.size);
  h[k] = local_dots(basis, w, h);
  sum(h.first(k + 1));
  PassSquares squares;
  squares.before = h[k];
  for (std::size_t j = 0; j < k; ++j) squares.removed += h[j] * h[j];
  squares.local_after = subtract_combination(basis, h, w);
  return squares;
}

}  // namespace ayatori::solvers
