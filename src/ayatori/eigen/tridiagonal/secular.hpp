#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "ayatori/base/range.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::eigen {

/// diag(d) + rho z z^T, d strictly ascending, ||z|| = 1, rho > 0.
template <class T>
struct RankOneUpdateOf {
  std::vector<T> d;
  std::vector<T> z;
  T rho;

  std::int64_t size() const { return static_cast<std::int64_t>(d.size()); }
};

/// An eigenvalue as d[pole] + shift, the pole being the nearest: differences to all poles are then known to
/// high relative accuracy.
template <class T>
struct SecularRootOf {
  std::int64_t pole;
  T shift;

  T value(const RankOneUpdateOf<T>& update) const { return update.d[pole] + shift; }
  /// d - root, of a pole d of the update.
  T distance(const RankOneUpdateOf<T>& update, T d) const { return (d - update.d[pole]) - shift; }
};

/// Collective. n elements on every rank, of which each has its share by split_evenly(), in pieces of the same
/// length.
template <class E>
std::vector<E> gather_shares(const comm::Comm& comm, std::vector<E> mine, std::int64_t n) {
  const int ranks = comm.size();
  if (ranks == 1) return mine;
  const std::int64_t piece = split_evenly(n, ranks, 0).size();
  mine.resize(piece);
  std::vector<E> all(piece * ranks);
  comm.collectives().allgather(comm, mine.data(), piece * comm::units_of<E>(), all.data(),
                               comm::data_type_of<E>());
  for (int r = 1; r < ranks; ++r) {
    const Range share = split_evenly(n, ranks, r);
    std::copy_n(all.begin() + r * piece, share.size(), all.begin() + share.begin);
  }
  all.resize(n);
  return all;
}

/// Collective. All eigenvalues of the update, ascending, each rank finding its share. Throws InternalError
/// (agreed).
template <class T>
std::vector<SecularRootOf<T>> secular_roots(const comm::Comm& comm, const RankOneUpdateOf<T>& update);

/// Collective. The z for which those roots are exact (Gu, Eisenstat 1995, equation 3.3), up to a common
/// factor. The eigenvector of root x has the elements z_i / (d_i - x), up to its length.
template <class T>
std::vector<T> exact_z(const comm::Comm& comm, const RankOneUpdateOf<T>& update,
                       std::type_identity_t<std::span<const SecularRootOf<T>>> roots);

}  // namespace ayatori::eigen
