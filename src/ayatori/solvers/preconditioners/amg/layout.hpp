#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/halo.hpp"

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

/// Messages between the owners of nodes and those that have them as ghosts. Vectors have C values per node:
/// value c of node i is x[c * stride + i], that of ghost g x[c * stride + ghost_begin + g].
template <class T>
class GhostExchange {
 public:
  GhostExchange(const Layout& layout, int values, std::int64_t stride, std::int64_t ghost_begin)
      : layout_(&layout),
        values_(values),
        stride_(stride),
        ghost_begin_(ghost_begin),
        of_owner_(layout.plan.send_index.size() * values),
        of_ghost_(layout.plan.ghosts.size() * values) {}

  /// Collective. Every ghost gets its owner's values.
  void fetch(T* x) {
    const auto& plan = layout_->plan;
    if (plan.send_to.empty() && plan.receive_from.empty()) return;
    for_each_value(plan.send_index.size(), [&](std::int64_t at, int c, std::int64_t k) {
      of_owner_[at] = x[c * stride_ + plan.send_index[k]];
    });
    travel(plan.send_to, of_owner_, plan.receive_from, of_ghost_);
    for_each_value(plan.ghosts.size(), [&](std::int64_t at, int c, std::int64_t g) {
      x[c * stride_ + ghost_begin_ + g] = of_ghost_[at];
    });
  }

  /// Collective. Every owner adds to its own what the ghosts of its nodes hold elsewhere, in rank order.
  void add_back(T* x) {
    const auto& plan = layout_->plan;
    if (plan.send_to.empty() && plan.receive_from.empty()) return;
    for_each_value(plan.ghosts.size(), [&](std::int64_t at, int c, std::int64_t g) {
      of_ghost_[at] = x[c * stride_ + ghost_begin_ + g];
    });
    travel(plan.receive_from, of_ghost_, plan.send_to, of_owner_);
    for_each_value(plan.send_index.size(), [&](std::int64_t at, int c, std::int64_t k) {
      x[c * stride_ + plan.send_index[k]] += of_owner_[at];
    });
  }

 private:
  template <class F>
  void for_each_value(std::size_t nodes, F&& f) const {
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(nodes); ++k)
      for (int c = 0; c < values_; ++c) f(k * values_ + c, c, k);
  }
  auto part(Array<T>& buffer, const comm::Neighbour& n) const {
    return std::span(buffer).subspan(n.begin * values_, (n.end - n.begin) * values_);
  }
  void travel(const std::vector<comm::Neighbour>& to, Array<T>& outgoing,
              const std::vector<comm::Neighbour>& from, Array<T>& incoming) {
    for (const auto& n : from) requests_.push_back(layout_->comm.irecv(part(incoming, n), n.rank, amg_tag));
    for (const auto& n : to)
      requests_.push_back(layout_->comm.isend(std::span<const T>(part(outgoing, n)), n.rank, amg_tag));
    comm::wait_all(requests_);
    requests_.clear();
  }

  const Layout* layout_;
  int values_;
  std::int64_t stride_;
  std::int64_t ghost_begin_;
  Array<T> of_owner_;
  Array<T> of_ghost_;
  std::vector<comm::Request> requests_;
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
