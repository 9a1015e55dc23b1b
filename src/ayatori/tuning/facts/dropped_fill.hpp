#pragma once

#include "ayatori/sparse/csr.hpp"

namespace ayatori::tuning {

/// Figures of incomplete factors without fill, summed over rows that were looked at.
struct DroppedFill {
  double rows = 0;
  /// Per row, |sum of l_ik u_kj over the fill (i, j) that is left out| / |a_ii|: what the elimination leaves
  /// out of A times the constant vector, in units of the diagonal.
  double sum = 0;
};

/// Fill of rows spread over a square block: 32 at most, and as many as work in a sixteenth of its entries
/// allows. Before a row those are eliminated that are at most eight steps below it, if these are few enough:
/// those further down hardly matter.
DroppedFill dropped_fill(const sparse::Csr& block);

}  // namespace ayatori::tuning
