#pragma once

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
/// Collective; h has at least k + 1 elements, of which the last is work space. Traffic: 2 k + 4 doubles per
/// element of w.
PassSquares gram_schmidt_pass(const GlobalSum& sum, const Basis& basis, Vector w, std::span<double> h);

}  // namespace ayatori::solvers
