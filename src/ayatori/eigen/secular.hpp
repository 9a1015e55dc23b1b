#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/comm/comm.hpp"

namespace ayatori::eigen {

/// diag(d) + rho z z^T, d strictly ascending, ||z|| = 1, rho > 0.
struct RankOneUpdate {
  std::vector<double> d;
  std::vector<double> z;
  double rho;

  std::int64_t size() const { return static_cast<std::int64_t>(d.size()); }
};

/// An eigenvalue as d[pole] + shift, the pole being the nearest: differences to all poles are then known to
/// high relative accuracy.
struct SecularRoot {
  std::int64_t pole;
  double shift;

  double value(const RankOneUpdate& update) const { return update.d[pole] + shift; }
  /// d - root, of a pole d of the update.
  double distance(const RankOneUpdate& update, double d) const { return (d - update.d[pole]) - shift; }
};

/// Collective. All eigenvalues of the update, ascending, each rank finding its share. Throws InternalError
/// (agreed).
std::vector<SecularRoot> secular_roots(const comm::Comm& comm, const RankOneUpdate& update);

/// Collective. The z for which those roots are exact (Gu, Eisenstat 1995, equation 3.3), up to a common
/// factor. The eigenvector of root x has the elements z_i / (d_i - x), up to its length.
std::vector<double> exact_z(const comm::Comm& comm, const RankOneUpdate& update,
                            std::span<const SecularRoot> roots);

}  // namespace ayatori::eigen
