#pragma once

#include "ayatori/sparse/csr.hpp"

namespace ayatori::tuning {

/// Of incomplete factors without fill, summed over rows that were looked at.
struct DroppedFill {
  double rows = 0;
  /// Per row, |sum of a_ik a_kj / a_kk over the fill (i, j) that is left out, k < i, k < j| / |a_ii|: what an
  /// elimination leaves out of A times the constant vector, in units of the diagonal, to first order.
  double sum = 0;
};

/// Of rows spread over a square block: 128 at most, and as many as can be seen with a sixteenth of the
/// block's entries.
DroppedFill dropped_fill(const sparse::Csr& block);

}  // namespace ayatori::tuning
