#pragma once

#include <cstdint>

#include "ayatori/base/array.hpp"
#include "ayatori/eigen/dense/distributed_dense.hpp"

namespace ayatori::eigen {

/// This rank's part of y = A x, for the rows and columns of A from `first` on, A symmetric, from its elements
/// on and below the diagonal, each of which is read once: element (i, j) adds a_ij x_j to y_i and, off the
/// diagonal, a_ij x_i to y_j. A number of memory for 4 operations, where the triangle does not stay in cache.
///
/// x_rows and y_rows have an element for each local row, x_columns and y_columns one for each local column;
/// those before `first` are left alone, the others of y_rows and y_columns are overwritten. The sum over all
/// ranks of both parts is A x. Of one rank alone, BLAS makes it all.
template <class T>
class SymmetricProduct {
 public:
  explicit SymmetricProduct(const DenseOf<T>& a);
  void operator()(std::int64_t first, const T* x_rows, const T* x_columns, T* y_rows, T* y_columns);

 private:
  const DenseOf<T>& a_;
  Array<T> partial_;  ///< y_rows of every thread but the first
};

}  // namespace ayatori::eigen
