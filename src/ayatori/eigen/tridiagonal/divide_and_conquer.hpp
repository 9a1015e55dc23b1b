#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/eigen/dense/process_grid.hpp"

namespace ayatori::eigen {

/// Which of the eigenvalues, given all of them in ascending order, are wanted. The same on all ranks.
template <class T>
using SelectOf = std::function<Range(std::span<const T> values)>;

/// Eigenpairs of a symmetric tridiagonal matrix, vectors spread by rows.
template <class T>
struct TridiagonalPairs {
  std::vector<T> values;                ///< all n, ascending; on every rank
  Range selected;                       ///< the selected ones among those
  Cyclic rows;                          ///< the rows of the eigenvector matrix that this rank holds
  Array<T> vectors;                     ///< rows.count() x n, column-major
  std::vector<std::int64_t> column_of;  ///< each selected pair's column; others hold nothing of meaning
};

/// Collective. Divide and conquer (Cuppen 1981; Gu, Eisenstat 1995): T = diag(T_1, T_2) + |e| u u^T is cut
/// until the parts are small, and put together again by roots of secular equations (LAPACK's dlaed4). Vectors
/// are orthogonal to working accuracy whatever the spectrum, since each is made from the same z that the
/// computed roots are exact for.
///
/// Rows of the eigenvectors lie cyclic over the ranks: every merge is then a product of matrices for which
/// nothing has to travel, and all ranks share all merges evenly. What travels is O(n) numbers per merge. What
/// every rank does for itself is O(n^2).
///
/// `diagonal` (n) and `off_diagonal` (n - 1) are the same on all ranks, finite, and about 1 in size. Throws
/// InternalError (agreed) should an iteration not converge.
template <class T>
TridiagonalPairs<T> divide_and_conquer(const comm::Comm& comm, std::vector<T> diagonal,
                                       const std::vector<T>& off_diagonal,
                                       const std::type_identity_t<SelectOf<T>>& select);

/// Collective. The selected vectors spread by columns: rank r gets those of split_evenly(selected.size(),
/// ranks, r), n numbers each.
template <class T>
Array<T> spread_by_columns(const comm::Comm& comm, TridiagonalPairs<T>& pairs);

}  // namespace ayatori::eigen
