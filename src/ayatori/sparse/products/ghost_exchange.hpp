#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/halo.hpp"

namespace ayatori::sparse {

/// Messages between the owners of elements and those that have them as ghosts, of any type and in both
/// directions. Vectors have C values per element: value c of own element i is x[c * stride + i], that of
/// ghost g x[c * stride + ghost_begin + g].
template <class T>
class GhostExchange {
 public:
  /// Communicator and plan are referred to.
  GhostExchange(const comm::Comm& comm, const HaloPlan& plan, int values, std::int64_t stride,
                std::int64_t ghost_begin)
      : comm_(&comm),
        plan_(&plan),
        values_(values),
        stride_(stride),
        ghost_begin_(ghost_begin),
        of_owner_(plan.send_index.size() * values),
        of_ghost_(plan.ghosts.size() * values) {}

  /// Collective. Every ghost gets its owner's values.
  void fetch(T* x) {
    if (plan_->send_to.empty() && plan_->receive_from.empty()) return;
    for_each_value(plan_->send_index.size(), [&](std::int64_t at, int c, std::int64_t k) {
      of_owner_[at] = x[c * stride_ + plan_->send_index[k]];
    });
    travel(plan_->send_to, of_owner_, plan_->receive_from, of_ghost_);
    for_each_value(plan_->ghosts.size(), [&](std::int64_t at, int c, std::int64_t g) {
      x[c * stride_ + ghost_begin_ + g] = of_ghost_[at];
    });
  }

  /// Collective. The same for values that somebody else has packed, in the order of the plan's send_index;
  /// gives those of the ghosts, in the plan's order, until the next exchange.
  std::span<const T> exchange(std::span<const T> of_owner) {
    of_owner_.assign(of_owner.begin(), of_owner.end());
    travel(plan_->send_to, of_owner_, plan_->receive_from, of_ghost_);
    return of_ghost_;
  }

  /// Collective. Every owner adds to its own what the ghosts of its elements hold elsewhere, in rank order.
  void add_back(T* x) {
    if (plan_->send_to.empty() && plan_->receive_from.empty()) return;
    for_each_value(plan_->ghosts.size(), [&](std::int64_t at, int c, std::int64_t g) {
      of_ghost_[at] = x[c * stride_ + ghost_begin_ + g];
    });
    travel(plan_->receive_from, of_ghost_, plan_->send_to, of_owner_);
    for_each_value(plan_->send_index.size(), [&](std::int64_t at, int c, std::int64_t k) {
      x[c * stride_ + plan_->send_index[k]] += of_owner_[at];
    });
  }

 private:
  static constexpr int tag = 21;

  template <class F>
  void for_each_value(std::size_t elements, F&& f) const {
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(elements); ++k)
      for (int c = 0; c < values_; ++c) f(k * values_ + c, c, k);
  }
  auto part(Array<T>& buffer, const comm::Neighbour& n) const {
    return std::span(buffer).subspan(n.begin * values_, (n.end - n.begin) * values_);
  }
  void travel(const std::vector<comm::Neighbour>& to, Array<T>& outgoing,
              const std::vector<comm::Neighbour>& from, Array<T>& incoming) {
    for (const auto& n : from) requests_.push_back(comm_->irecv(part(incoming, n), n.rank, tag));
    for (const auto& n : to)
      requests_.push_back(comm_->isend(std::span<const T>(part(outgoing, n)), n.rank, tag));
    comm::wait_all(requests_);
    requests_.clear();
  }

  const comm::Comm* comm_;
  const HaloPlan* plan_;
  int values_;
  std::int64_t stride_;
  std::int64_t ghost_begin_;
  Array<T> of_owner_;
  Array<T> of_ghost_;
  std::vector<comm::Request> requests_;
};

}  // namespace ayatori::sparse
