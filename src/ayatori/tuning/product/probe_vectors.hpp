#pragma once

#include "ayatori/base/array.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::tuning {

/// Vectors of this rank's rows, for iterations that are made to be timed only: x = 1, y as it comes.
struct ProbeVectors {
  /// Collective.
  ProbeVectors(const comm::Comm& comm, const sparse::SplitMatrix& parts) {
    const auto n = static_cast<std::size_t>(parts.interior.rows);
    comm::agree(comm, [&] {
      x.resize(n);
      y.resize(n);
    });
    solvers::fill(x, 1);
  }

  Array<double> x;
  Array<double> y;
};

}  // namespace ayatori::tuning
