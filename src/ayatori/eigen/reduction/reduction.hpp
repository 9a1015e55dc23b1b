#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "ayatori/eigen/reduction/tridiagonalize.hpp"

namespace ayatori::eigen {

/// A = Q T Q^T, by whatever way.
template <class T>
class ReducedOf {
 public:
  virtual ~ReducedOf() = default;
  virtual const TridiagonalOf<T>& tridiagonal() const = 0;
  /// Collective. z = Q z for whole columns z, any number of them on each rank. For a reduction that was asked
  /// for vectors.
  virtual void back_transform(BlockOf<T> z) const = 0;
};

using Reduced = ReducedOf<double>;

/// A way from a symmetric matrix to a tridiagonal one; an entry of the list.
template <class T>
struct ReductionOf {
  std::string_view name;
  std::string_view description;
  bool one_rank_only;
  /// Collective. Of the matrix whose lower triangle `a` holds and whose largest element is about 1, in panels
  /// of `block` columns; `a` is destroyed, and lives as long as what is made of it.
  std::unique_ptr<ReducedOf<T>> (*reduce)(DenseOf<T>& a, std::int64_t block, bool vectors);
};

using Reduction = ReductionOf<double>;

/// The same in either precision.
template <class T = double>
std::span<const ReductionOf<T>> reductions();

/// By its name, for this many ranks. Throws InputError that says which there are.
template <class T = double>
const ReductionOf<T>& find_reduction(std::string_view name, int ranks);

}  // namespace ayatori::eigen
