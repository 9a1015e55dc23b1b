#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/halo.hpp"

// What several strategies share.

namespace ayatori::sparse {

/// Message tag of the halo exchanges.
inline constexpr int halo_tag = 1;

/// The part of a buffer that goes to a neighbour or comes from it.
template <class Buffer>
auto part(Buffer& buffer, const comm::Neighbour& neighbour) {
  return std::span(buffer).subspan(neighbour.begin, neighbour.end - neighbour.begin);
}

/// The neighbours with something in [offsets[r], offsets[r + 1]).
inline std::vector<comm::Neighbour> neighbours(std::span<const std::int64_t> offsets) {
  std::vector<comm::Neighbour> result;
  for (int r = 0; r + 1 < static_cast<int>(offsets.size()); ++r) {
    if (offsets[r] < offsets[r + 1]) result.push_back({r, offsets[r], offsets[r + 1]});
  }
  return result;
}

/// Puts the elements of x that travel into sending order. Traffic: 20 bytes per element.
inline void pack(const HaloPlan& plan, std::span<const double> x, std::span<double> outgoing) {
  parallel_for(static_cast<std::int64_t>(outgoing.size()),
               [&](std::int64_t i) { outgoing[i] = x[plan.send_index[i]]; });
}

/// Non-blocking messages between neighbours; who comes first, receives or sends, is what the strategies
/// differ in.
class NeighbourMessages : public HaloExchange {
 public:
  NeighbourMessages(comm::Comm comm, const RowPartition& partition, const HaloPlan& plan)
      : comm_(std::move(comm)),
        plan_(plan),
        first_(partition.range(comm_.rank()).begin),
        ghosts_(plan.ghosts.size()),
        outgoing_(plan.send_index.size()) {
    requests_.reserve(plan.receive_from.size() + plan.send_to.size());
  }

  std::span<const double> finish() final {
    comm::wait_all(requests_);
    requests_.clear();
    return ghosts_;
  }

  std::optional<std::vector<HaloMessage>> messages() const final {
    std::vector<HaloMessage> list;
    for (const auto& to : plan_.send_to) {
      auto& message = list.emplace_back(HaloMessage{0, true, to.rank, {}});
      for (const auto local : part(plan_.send_index, to)) message.elements.push_back(first_ + local);
    }
    for (const auto& from : plan_.receive_from) {
      const auto ghosts = part(plan_.ghosts, from);
      list.push_back({0, false, from.rank, {ghosts.begin(), ghosts.end()}});
    }
    return list;
  }

 protected:
  void post_receives() {
    for (const auto& from : plan_.receive_from)
      requests_.push_back(comm_.irecv(part(ghosts_, from), from.rank, halo_tag));
  }
  void start_sends(std::span<const double> x) {
    pack(plan_, x, outgoing_);
    for (const auto& to : plan_.send_to)
      requests_.push_back(comm_.isend(part(std::as_const(outgoing_), to), to.rank, halo_tag));
  }

 private:
  comm::Comm comm_;
  const HaloPlan& plan_;
  std::int64_t first_;  ///< element of x that this rank owns
  Array<double> ghosts_;
  Array<double> outgoing_;
  std::vector<comm::Request> requests_;
};

/// HaloType::make of an exchange whose construction calls for no communication.
template <class Exchange>
std::unique_ptr<HaloExchange> make_exchange(const comm::Comm& comm, const RowPartition& partition,
                                            const HaloPlan& plan) {
  return comm::agree(comm, [&] { return std::make_unique<Exchange>(comm, partition, plan); });
}

/// HaloType::traffic of one message per neighbour.
inline HaloTraffic neighbour_traffic(const HaloPlan& plan, const RowPartition&) {
  return {static_cast<double>(std::max(plan.send_to.size(), plan.receive_from.size())),
          8.0 * static_cast<double>(std::max(plan.send_index.size(), plan.ghosts.size()))};
}

/// The ghosts out of the whole vector.
inline void pick_ghosts(const HaloPlan& plan, std::span<const double> all, std::span<double> ghosts) {
  parallel_for(static_cast<std::int64_t>(ghosts.size()),
               [&](std::int64_t g) { ghosts[g] = all[plan.ghosts[g]]; });
}

/// Bytes of an exchange that brings every rank the whole vector: it receives all that is not its own, and
/// sends its own at least once.
inline double whole_vector_bytes(const HaloPlan& plan, const RowPartition& partition) {
  if (partition.ranks() == 1) return 0;
  const std::int64_t mine = plan.local_size;
  return 8.0 * static_cast<double>(std::max(partition.rows() - mine, mine));
}

}  // namespace ayatori::sparse
