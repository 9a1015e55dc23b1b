#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::eigen {

/// y = B x, each rank its piece of both. Collective.
using Product = std::function<void(std::span<const double> x, std::span<double> y)>;

/// A symmetric operator that is known by its products.
struct SymmetricOperator {
  std::int64_t n = 0;
  Range rows;       ///< rows of this rank
  double norm = 0;  ///< ||A||_1, or another bound of ||A||_2 that is not far off
  Product apply;    ///< A x
  Product
      precondition;  ///< about A^-1 x, for the smallest eigenvalues of a positive definite A; may be empty
};

struct ExtremeOptions {
  std::int64_t count = 1;                 ///< pairs, from the end of the spectrum
  bool largest = false;                   ///< which end
  double tolerance = 1e-10;               ///< bound on ||A v - lambda v||_2 / norm
  std::int64_t max_products = 0;          ///< with A, until it gives up; 0: no limit
  std::function<bool()> wants_stop = {};  ///< asked once a step; true on one rank ends it on all
};

struct ExtremePairs {
  std::vector<double> values;     ///< ascending, on every rank
  Array<double> vectors;          ///< this rank's rows of all, a column after the other
  std::vector<double> residuals;  ///< ||A v - lambda v||_2 / norm, as the iteration knows them
  bool converged = false;         ///< all of them
  std::int64_t products = 0;      ///< with A
  std::int64_t restarts = 0;
};

/// Vectors that join the basis at a time: at least two, since the wanted eigenvalue may be double.
std::int64_t block_size(std::int64_t n, std::int64_t count);

/// Vectors that a rank holds two of each at a time (v and A v): what memory and orthogonalization cost.
std::int64_t basis_size(std::int64_t n, std::int64_t count);

/// Collective. The eigenpairs at one end of the spectrum by the block generalized Davidson method with thick
/// restarts that also keep the directions of the last step, GD+k (Stathopoulos, Saad 1998; Stathopoulos
/// 2007): without a preconditioner block Lanczos, with one the relative of LOBPCG that forgets less. Wanted
/// pairs are iterated side by side, a random direction joins at every restart, and so multiple eigenvalues
/// are found as often as they are. As with every iteration of this kind, that none was missed is likely, not
/// proven. Throws InputError for counts and tolerances that make no sense.
ExtremePairs extreme_pairs(const comm::Comm& comm, const SymmetricOperator& a, const ExtremeOptions& options);

/// How good pairs are, by products with `reference`.
struct ExtremeCheck {
  double residual = 0;       ///< max ||A v - lambda v||_2 / norm
  double orthogonality = 0;  ///< max |V^T V - I| / (n eps)
};

/// Collective.
ExtremeCheck check_pairs(const comm::Comm& comm, const SymmetricOperator& a, const Product& reference,
                         const ExtremePairs& pairs);

}  // namespace ayatori::eigen
