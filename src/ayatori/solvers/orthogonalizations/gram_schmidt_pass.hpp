#pragma once

#include <complex>
#include <span>

#include "ayatori/solvers/orthogonalization.hpp"

namespace ayatori::solvers {

/// Squares of norms around one pass of classical Gram-Schmidt.
struct PassSquares {
  double before = 0;       ///< (w, w) before the pass, summed over ranks
  double removed = 0;      ///< (h, h)
  double local_after = 0;  ///< this rank's part of (w, w) after the pass

  /// (w, w) after the pass by Pythagoras; loses digits as it gets small beside `before`.
  double pythagoras() const { return before - removed; }
};

/// One pass of classical Gram-Schmidt: h = V^T w, w <- w - V h, with one reduction that also brings (w, w).
/// Collective; h has at least k + 1 elements, of which the last is work space. Traffic: 2 k + 4 elements of
/// vectors per element of w.
template <class Scalar, class Coefficient>
PassSquares gram_schmidt_pass(const GlobalSum& sum, const BasisOf<Scalar>& basis, std::span<Scalar> w,
                              std::span<Coefficient> h) {
  const auto k = static_cast<std::size_t>(basis.size);
  h[k] = local_dots(basis, w, h);
  sum(as_pairs(h.first(k + 1)));
  PassSquares squares;
  squares.before = std::real(h[k]);
  for (std::size_t j = 0; j < k; ++j) squares.removed += std::norm(h[j]);
  squares.local_after = subtract_combination(basis, h, w);
  return squares;
}

/// ircgs of a basis in single precision.
double apply_ircgs(const GlobalSum& sum, const FloatBasis& basis, FloatVector w, std::span<double> h);
/// The same for a complex one.
double apply_ircgs(const GlobalSum& sum, const ComplexBasis& basis, ComplexVector w, std::span<Complex> h);

}  // namespace ayatori::solvers
