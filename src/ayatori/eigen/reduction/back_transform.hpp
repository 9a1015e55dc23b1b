#pragma once

#include <cstdint>
#include <span>

#include "ayatori/eigen/dense/distributed_dense.hpp"

namespace ayatori::eigen {

/// Panels of a reduction that go back at once: wider products are faster, and messages fewer.
inline constexpr std::int64_t panels_together = 2;

/// Collective. z = H_0 H_1 ... z, for the reflectors that tridiagonalize() (below = 1) or reduce_to_band()
/// (below = its width) leaves in `reflectors` and their `tau`: the one in column j begins in row j + below.
/// z holds whole columns, any number of them on each rank. `panels_together`
/// panels of `block` reflectors at a time are gathered on all ranks and applied as I - (V T) V^T (Schreiber,
/// Van Loan 1989).
template <class T>
void back_transform(const DenseOf<T>& reflectors, std::span<const Number<T>> tau, std::int64_t below,
                    std::int64_t block, Mutable<T> z);

}  // namespace ayatori::eigen
