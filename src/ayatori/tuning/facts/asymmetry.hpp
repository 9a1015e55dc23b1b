#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::tuning {

/// Share of a pair's scale by which the two may differ by rounding.
inline constexpr double asymmetry_by_rounding = 1e-13;

/// How far pairs a_ij, a_ji are from being equal.
struct Asymmetry {
  bool exceeds_rounding = false;  ///< some differ by more than 1e-13 of the largest entries of rows i and j
  double largest = 0;             ///< max |a_ij - a_ji|

  void merge(const Asymmetry& other) {
    exceeds_rounding = exceeds_rounding || other.exceeds_rounding;
    largest = std::max(largest, other.largest);
  }
};

/// Collective. The asymmetry of a matrix that is not exactly symmetric. Most such matrices show it in any few
/// rows, and the others have all their rows compared.
Asymmetry find_asymmetry(const comm::Comm& comm, const sparse::SplitMatrix& parts, std::int64_t nonzeros,
                         bool symmetric_pattern);

}  // namespace ayatori::tuning
