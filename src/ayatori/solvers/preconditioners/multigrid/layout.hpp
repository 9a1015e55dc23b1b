#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/halo.hpp"
#include "ayatori/sparse/products/ghost_exchange.hpp"

// How the nodes of a grid of the hierarchy are spread over ranks, and what travels between these.

namespace ayatori::solvers::amg {

/// Message tag of the exchanges of the hierarchy.
inline constexpr int amg_tag = 21;

/// The nodes of a grid: this rank's own, then the ghosts, others' that its rows refer to.
struct Layout {
  comm::Comm comm;
  sparse::RowPartition partition;
  sparse::HaloPlan plan;

  std::int32_t own() const { return plan.local_size; }
  std::int32_t ghosts() const { return static_cast<std::int32_t>(plan.ghosts.size()); }
  std::int32_t all() const { return own() + ghosts(); }
  std::int64_t first() const { return partition.range(comm.rank()).begin; }
  std::int64_t global(std::int32_t local) const {
    return local < own() ? first() + local : plan.ghosts[local - own()];
  }
};

/// Collective. The layout of nodes spread by `partition` on a rank that refers to these ghosts (ascending).
Layout make_layout(const comm::Comm& comm, sparse::RowPartition partition, std::vector<std::int64_t> ghosts);

/// Collective. The partition in which every rank owns as many nodes as it says.
sparse::RowPartition partition_by_sizes(const comm::Comm& comm, std::int64_t own);

/// Messages between the owners of nodes and those that have them as ghosts.
template <class T>
class GhostExchange : public sparse::GhostExchange<T> {
 public:
  GhostExchange(const Layout& layout, int values, std::int64_t stride, std::int64_t ghost_begin)
      : sparse::GhostExchange<T>(layout.comm, layout.plan, values, stride, ghost_begin) {}
};

/// Rows on their way to another rank: columns are global.
struct TravellingRows {
  Array<std::int64_t> start;  ///< rows + 1
  Array<std::int64_t> column;
  Array<double> value;  ///< the same number for every entry
};

/// Collective. Row i of `rows` belongs to the neighbour of `to` whose piece holds i; gives what arrives from
/// `from`, in the order of its pieces, which hold `received` rows. `per_entry`: values of an entry.
TravellingRows exchange_rows(const comm::Comm& comm, std::span<const comm::Neighbour> to,
                             const TravellingRows& rows, std::span<const comm::Neighbour> from,
                             std::int64_t received, int per_entry);

}  // namespace ayatori::solvers::amg
