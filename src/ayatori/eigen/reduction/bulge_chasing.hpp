#pragma once

#include <cstdint>
#include <vector>

#include "ayatori/eigen/reduction/band_reduction.hpp"
#include "ayatori/eigen/reduction/tridiagonalize.hpp"

namespace ayatori::eigen {

/// Which rank does which steps when a band of order n and `width` diagonals is chased to tridiagonal form.
/// Sweep s takes column s to tridiagonal form; its step k is about the rows and columns from s + 1 + k width
/// on, and has a reflector of `width` elements, or what is left. A rank has the same steps in all sweeps, so
/// that what it works on moves by one column from sweep to sweep.
struct ChaseLayout {
  std::int64_t n = 0;
  std::int64_t width = 1;
  int active = 1;  ///< ranks that have steps, the first ones

  ChaseLayout() = default;
  ChaseLayout(std::int64_t order, std::int64_t diagonals, int ranks);

  std::int64_t sweeps() const { return width < 2 || n < 3 ? 0 : n - 2; }
  std::int64_t row(std::int64_t sweep, std::int64_t step) const { return sweep + 1 + step * width; }
  std::int64_t steps(std::int64_t sweep) const { return (n - 2 - sweep) / width + 1; }
  /// Steps of a rank: in the first sweep, and in any.
  Range steps_of(int rank) const;
  Range steps_of(int rank, std::int64_t sweep) const;
  /// How many steps a rank has in this many sweeps.
  std::int64_t count_steps(int rank, Range sweeps) const;
};

/// B = Q T Q^T.
template <class T>
struct ChaseOf {
  TridiagonalOf<T> tridiagonal;  ///< tau is empty
  ChaseLayout layout;
  /// Reflectors of this rank's steps, sweep by sweep, width numbers each: tau, and the reflector without its
  /// first element, which is 1. Q is the product over sweeps, in each over steps, of I - tau v v^T.
  Array<T> reflectors;
};

/// Collective. The second stage of a reduction to tridiagonal form (Schwarz 1968; with only the first column
/// of every bulge taken away: Lang 1993): 6 n^2 width operations, in cache. Ranks work as a pipeline: from
/// sweep to sweep one reflector goes to the right neighbour, one column of the band to the left. `band`
/// is the same on all ranks. Reflectors are kept for `vectors` only.
template <class T>
ChaseOf<T> chase(const comm::Comm& comm, const BandOf<T>& band, bool vectors);

/// Collective. z = Q z for whole columns z, any number of them on each rank. Reflectors of `width` sweeps at
/// a time are gathered on all ranks; those of one step, which begin one row below each other, are applied
/// together as I - V T V^T (Bischof, Lang, Sun 2000; Haidar, Ltaief, Dongarra 2011).
template <class T>
void apply_chase(const comm::Comm& comm, const ChaseOf<T>& chase, Mutable<T> z);

}  // namespace ayatori::eigen
