#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ayatori/comm/comm.hpp"

namespace ayatori::machine {

/// A collective operation on doubles, as it is measured.
struct CollectiveOperation {
  std::string_view name;
  bool has_length;  ///< a barrier has none
  bool per_rank;    ///< needs its length once for every rank, somewhere
  /// Collective. Of `count` elements; both buffers hold `count` for every rank if per_rank, else once.
  void (*run)(const comm::Comm& comm, double* mine, double* all, std::int64_t count);
};

/// The collective operations of the MPI that are measured; the list of what there is. Roots are rank 0.
std::span<const CollectiveOperation> collective_operations();

}  // namespace ayatori::machine
