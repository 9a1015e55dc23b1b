#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/eigen/krylov_basis.hpp"

namespace ayatori::eigen {

/// Which eigenvalues are wanted. `both_ends`: half from either, of an odd number one more from the top.
enum class Which { largest_magnitude, smallest_magnitude, largest, smallest, both_ends };

struct LanczosOptions {
  std::int64_t count = 1;
  Which which = Which::largest_magnitude;
  std::int64_t basis = 0;         ///< vectors of it; 0: max(2 count + 1, 20); more than count
  double tolerance = 0;           ///< bound on the residual, relative to |theta|; 0: what rounding leaves
  std::int64_t max_restarts = 0;  ///< 0: 10 n
  std::span<const double> start = {};     ///< this rank's rows of the first vector; none: a random one
  std::function<bool()> wants_stop = {};  ///< asked at every restart; true on one rank ends it on all
};

struct LanczosPairs {
  std::vector<double> values;  ///< ascending, of those that converged, on every rank
  Array<double> vectors;       ///< this rank's rows of each, orthonormal in the inner product
  bool converged = false;      ///< as many as were wanted
  bool interrupted = false;
  std::int64_t products = 0;
  std::int64_t restarts = 0;
};

/// Collective. Eigenpairs of an operator that is self-adjoint in its inner product, by the Lanczos method
/// with thick restarts (Wu & Simon 2000) and full orthogonalization. As one start vector sees one vector of
/// every eigenspace, what is found is then deflated, and another Lanczos process from a random vector looks
/// for eigenvalues that should have been among them, until there is none: multiple eigenvalues are found as
/// often as they are. That none was missed is likely, not proved. Throws InputError for counts that make no
/// sense.
LanczosPairs lanczos(const comm::Comm& comm, const ProjectedOperator& a, const LanczosOptions& options);

}  // namespace ayatori::eigen
