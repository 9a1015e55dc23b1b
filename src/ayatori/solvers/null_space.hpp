#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/row_sums.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

// Systems that are singular because nothing fixes the level of the solution, such as diffusion without a
// Dirichlet boundary, or the Laplacian of a graph: A 1 = 0 on each connected component. Then A x = b has
// solutions only if b is orthogonal to the null space of the transpose, and they differ by null vectors.

namespace ayatori::solvers {

/// Vectors that are constant on each of some disjoint sets of unknowns, and 0 elsewhere.
class PiecewiseConstants {
 public:
  /// No set at all.
  PiecewiseConstants() = default;
  /// Collective. `set_of[i]`: the set of own unknown i, or -1. Sets below `shared` have unknowns on several
  /// ranks, with the same number on all of them; sets from `shared` up to `sets` belong to this rank alone.
  PiecewiseConstants(comm::Comm comm, const Array<std::int32_t>& set_of, std::int32_t shared,
                     std::int32_t sets);

  std::int64_t dimension() const { return dimension_; }  ///< sets of all ranks
  bool empty() const { return dimension_ == 0; }
  std::int64_t unknowns() const { return unknowns_; }  ///< unknowns of all sets and ranks

  /// Collective. x = x - its orthogonal projection onto these vectors: the mean over every set becomes 0.
  /// Sums over ranks only where sets are shared. Traffic: 3 doubles per unknown of a set.
  void project_out(Vector x) const;

 private:
  std::int32_t sets() const { return static_cast<std::int32_t>(size_.size()); }

  comm::Comm comm_ = comm::Comm::self();
  std::int32_t shared_ = 0;
  std::int64_t dimension_ = 0;
  std::int64_t unknowns_ = 0;
  std::vector<std::int64_t> start_;  ///< start of each set in `member_`
  Array<std::int32_t> member_;       ///< own unknowns, set by set
  std::vector<double> size_;         ///< size of each set, over all ranks
};

/// What row and column sums tell of the null spaces of a matrix and of its transpose.
struct NullSpaces {
  std::shared_ptr<const PiecewiseConstants> right;  ///< A v = 0
  std::shared_ptr<const PiecewiseConstants> left;   ///< A^T v = 0; the same object where A is symmetric
};

/// Collective. The connected components (of the graph of A + A^T, without stored zeros) on which every row
/// sum vanishes up to rounding, and those on which every column sum does. A sum vanishes where it is below
/// 1e-14 of the sum of absolute values. Other null vectors are not looked for. `symmetric`: A is known to be.
/// `row_sums`: of A, or of -A.
///
/// Nothing is looked at where no row sum vanishes and they have one sign or A is symmetric; about an entry
/// per row where no component qualifies and A is symmetric, or connected with entries that do not sum up to
/// 0, as the row sums of a component and its column sums both do; else all entries twice.
NullSpaces find_null_spaces(const comm::Comm& comm, const sparse::SplitMatrix& parts, bool symmetric,
                            const RowSums& row_sums);

/// The preconditioner with null vectors taken out of all it gives: y = (I - N N^T) M x, symmetric on
/// right-hand sides in the range of a symmetric A. A preconditioner that is nearly singular itself would fill
/// the iterates with them.
BuiltPreconditioner without_null_vectors(BuiltPreconditioner built,
                                         std::shared_ptr<const PiecewiseConstants> null_vectors);

}  // namespace ayatori::solvers
