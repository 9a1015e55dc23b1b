#pragma once

#include <cstdint>
#include <functional>

#include "ayatori/eigen/dense/distributed_dense.hpp"

namespace ayatori::eigen {

/// Eigenvectors spread by columns: rank r holds those of split_evenly(count, ranks, r), n numbers each.
struct ColumnSpread {
  std::int64_t n = 0;
  std::int64_t count = 0;
  Array<double> values;

  /// This rank's columns.
  Range mine(const comm::Comm& comm) const { return split_evenly(count, comm.size(), comm.rank()); }
};

/// Collective. All columns pass by every rank, some at a time: those of rank `source` from number `first` on.
void for_panels(const comm::Comm& comm, const ColumnSpread& z,
                const std::function<void(int source, std::int64_t first, ConstBlock panel)>& visit);

/// Collective. y += alpha A z, y spread as z is.
void add_product(double alpha, const DistributedDense& a, const ColumnSpread& z, Array<double>& y);

}  // namespace ayatori::eigen
