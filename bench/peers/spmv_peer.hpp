#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ayatori/sparse/csr.hpp"

namespace ayatori::bench {

/// Another way to multiply, or ours with values of less precision.
struct SpmvPeer {
  std::string name;
  double tolerance;  ///< error of y, as a share of the sum of |a_ij x_j| in its row
  /// y = A x, so often as it is called, from the vector that the peer was made with.
  std::function<void()> multiply;
  std::function<double(std::int32_t)> result;  ///< y of a row
};

/// A square matrix, the vector to multiply, whether the matrix is its own transpose, and by how many threads.
struct SpmvProblem {
  const sparse::Csr& matrix;
  std::span<const double> x;
  bool is_symmetric;
  int threads;
};

/// Calls `use` with each peer, which ends with the call: one at a time is in memory.
using UsePeer = std::function<void(const SpmvPeer&)>;

/// Eigen's compressed rows; of a symmetric matrix also its upper half, which Eigen multiplies by one thread.
void with_eigen(const SpmvProblem& problem, const UsePeer& use);

/// librsb's blocks, as they are made and as rsb_tune_spmm() changes them; of a symmetric matrix its lower
/// half.
void with_librsb(const SpmvProblem& problem, const UsePeer& use);

}  // namespace ayatori::bench
