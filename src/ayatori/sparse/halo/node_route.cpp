#include "ayatori/sparse/halo/node_route.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "ayatori/comm/transfers/sparse_exchange.hpp"
#include "ayatori/sparse/halo/common.hpp"

namespace ayatori::sparse {

namespace {

/// An element of x, by its global number, and a node that wants it.
struct Item {
  std::int64_t element;
  std::int64_t node;
  auto operator<=>(const Item&) const = default;
};

/// An item on its way: to a rank, out of a place of this one.
struct Parcel {
  int to;
  Item item;
  std::int64_t place;
  auto operator<=>(const Parcel&) const = default;
};

/// An item, and the place where it is.
struct Located {
  Item item;
  std::int64_t place;
};

/// What a set of parcels means to both ends. An element leaves for a rank once, for however many nodes.
struct Delivery {
  Array<std::int64_t> places;         ///< places of what this rank sends, grouped by receiver
  std::vector<comm::Neighbour> to;    ///< pieces of `places`
  std::vector<comm::Neighbour> from;  ///< pieces of the places, in which it arrives here
  std::vector<Located> kept;          ///< what this rank has for itself
  std::vector<Located> arrived;       ///< by sender and element
  std::int64_t end = 0;               ///< the place after the last that arrived
};

/// Collective. Tells the receivers what comes; it gets places from `first` on.
Delivery deliver(const comm::Comm& comm, std::vector<Parcel> parcels, std::int64_t first) {
  Delivery delivery;
  std::vector<Item> items;
  std::vector<std::int64_t> offsets(comm.size() + 1, 0);
  comm::agree(comm, [&] {
    std::ranges::sort(parcels);
    const auto [unneeded, end] = std::ranges::unique(parcels);
    parcels.erase(unneeded, end);
    for (const Parcel& parcel : parcels) {
      if (parcel.to == comm.rank()) {
        delivery.kept.push_back({parcel.item, parcel.place});
        continue;
      }
      const bool is_first = delivery.to.empty() || delivery.to.back().rank != parcel.to;
      const auto count = static_cast<std::int64_t>(delivery.places.size());
      if (is_first) delivery.to.push_back({parcel.to, count, count});
      if (is_first || items.back().element != parcel.item.element) {
        delivery.places.push_back(parcel.place);
        ++delivery.to.back().end;
      }
      items.push_back(parcel.item);
      ++offsets[parcel.to + 1];
    }
    for (int r = 0; r < comm.size(); ++r) offsets[r + 1] += offsets[r];
  });
  const auto arrived = comm::sparse_alltoallv(comm, std::span<const Item>(items), offsets);
  return comm::agree(comm, [&] {
    delivery.end = first;
    for (int r = 0; r < comm.size(); ++r) {
      const auto of_rank = arrived.of(r);
      if (of_rank.empty()) continue;
      delivery.from.push_back({r, delivery.end, delivery.end});
      for (std::size_t i = 0; i < of_rank.size(); ++i) {
        if (i == 0 || of_rank[i].element != of_rank[i - 1].element) ++delivery.end;
        delivery.arrived.push_back({of_rank[i], delivery.end - 1});
      }
      delivery.from.back().end = delivery.end;
    }
    return delivery;
  });
}

/// The elements of items, and where they are.
class Directory {
 public:
  explicit Directory(const Delivery& delivery) {
    for (const auto* items : {&delivery.kept, &delivery.arrived}) {
      for (const auto& [item, place] : *items) places_.emplace_back(item.element, place);
    }
    std::ranges::sort(places_);
  }
  std::optional<std::int64_t> find(std::int64_t element) const {
    const auto found = std::ranges::lower_bound(places_, element, {}, &Entry::first);
    if (found == places_.end() || found->first != element) return std::nullopt;
    return found->second;
  }

 private:
  using Entry = std::pair<std::int64_t, std::int64_t>;
  std::vector<Entry> places_;
};

/// The ranks and their nodes. A node is named by its lowest rank.
struct Nodes {
  comm::Comm mine;           ///< the ranks of this node
  std::vector<int> members;  ///< ranks of this node, as numbered in the whole
  std::vector<int> of;       ///< by rank

  /// Collective.
  Nodes(const comm::Comm& comm, int node)
      : mine(comm.split(node, comm.rank())),
        members(mine.allgather(comm.rank())),
        of(comm.allgather(members.front())) {}

  int name() const { return members.front(); }
  bool is_here(int rank) const { return of[rank] == name(); }
};

/// By the lowest rank of other nodes, or by their ranks, the rank of this node that deals with them, or -1.
using Agents = std::vector<int>;

/// Collective. All nodes that any rank of this one has to do with, shared out evenly. `concerned` are the
/// ranks that this one has to do with.
Agents share_out(const Nodes& nodes, std::span<const comm::Neighbour> concerned) {
  std::vector<std::int64_t> concerns(nodes.of.size(), 0);
  for (const auto& neighbour : concerned) concerns[nodes.of[neighbour.rank]] = 1;
  nodes.mine.allreduce(std::span(concerns), comm::ReduceOp::max);
  Agents agents(concerns.size(), -1);
  std::size_t next = 0;
  for (std::size_t node = 0; node < agents.size(); ++node) {
    if (concerns[node] == 0 || static_cast<int>(node) == nodes.name()) continue;
    agents[node] = nodes.members[next++ % nodes.members.size()];
  }
  return agents;
}

/// Collective. For every rank of another node the one of this node that wants most from it, so that most of
/// what crosses need not be dealt out; but nobody takes more than an even share of them.
Agents most_concerned(const Nodes& nodes, std::span<const comm::Neighbour> concerned) {
  struct Wish {
    int rank;
    int member;  // by its number in the node
    std::int64_t count;
  };
  std::vector<Wish> mine;
  for (const auto& from : concerned) {
    if (!nodes.is_here(from.rank)) mine.push_back({from.rank, nodes.mine.rank(), from.end - from.begin});
  }
  auto wishes = nodes.mine.allgatherv(std::span<const Wish>(mine)).values;
  std::ranges::sort(wishes, {}, [](const Wish& w) { return std::tuple(w.rank, -w.count, w.member); });
  std::int64_t ranks = 0;
  for (std::size_t i = 0; i < wishes.size(); ++i)
    ranks += i == 0 || wishes[i].rank != wishes[i - 1].rank ? 1 : 0;
  const std::int64_t members = nodes.mine.size();
  std::vector<std::int64_t> room(members, (ranks + members - 1) / members);
  Agents agents(nodes.of.size(), -1);
  for (const Wish& wish : wishes) {
    if (agents[wish.rank] >= 0 || room[wish.member] == 0) continue;
    agents[wish.rank] = nodes.members[wish.member];
    --room[wish.member];
  }
  std::size_t next = 0;
  for (const Wish& wish : wishes) {  // those that only the busy ones want
    if (agents[wish.rank] >= 0) continue;
    while (room[next] == 0) ++next;
    agents[wish.rank] = nodes.members[next];
    --room[next];
  }
  return agents;
}

/// Collective. By the lowest rank of a node, the rank there that takes what this rank sends to it. `taker_of`
/// gives the rank of this node that takes what comes from another, or -1.
template <class TakerOf>
Agents takers_elsewhere(const comm::Comm& comm, const Nodes& nodes, const TakerOf& taker_of) {
  std::vector<std::int64_t> offsets(comm.size() + 1, 0);
  for (int r = 0; r < comm.size(); ++r) offsets[r + 1] = offsets[r] + (taker_of(r) == comm.rank() ? 1 : 0);
  const std::vector<char> word(offsets.back(), 'I');
  const auto told = comm::sparse_alltoallv(comm, std::span<const char>(word), offsets);
  Agents result(comm.size(), -1);
  for (int r = 0; r < comm.size(); ++r) {
    if (!told.of(r).empty()) result[nodes.of[r]] = r;
  }
  return result;
}

/// What both ends of a route's stages are made from.
class RouteMaker {
 public:
  RouteMaker(const comm::Comm& comm, const RowPartition& partition, const HaloPlan& plan, int node)
      : comm_(comm),
        plan_(plan),
        nodes_(comm, node),
        first_(partition.range(comm.rank()).begin),
        next_(plan.local_size + static_cast<std::int64_t>(plan.ghosts.size())) {}

  NodeRoute make(Crossing crossing) {
    const bool gathers = crossing == Crossing::by_agents;
    const Agents senders = gathers ? share_out(nodes_, plan_.send_to) : Agents();
    const Agents takers =
        gathers ? share_out(nodes_, plan_.receive_from) : most_concerned(nodes_, plan_.receive_from);
    const auto taker_of = [&](int rank) { return takers[gathers ? nodes_.of[rank] : rank]; };
    const Agents foreign_takers = takers_elsewhere(comm_, nodes_, taker_of);

    auto gather = deliver(
        comm_,
        comm::agree(
            comm_,
            [&] { return parcels_for_abroad([&](int to) { return gathers ? senders[to] : comm_.rank(); }); }),
        next_);
    comm::agree(comm_, [&] { note_arrivals(gather); });
    auto cross = deliver(comm_,
                         comm::agree(comm_,
                                     [&] {
                                       std::vector<Parcel> parcels;
                                       for (const auto* items : {&gather.kept, &gather.arrived}) {
                                         for (const auto& [item, place] : *items)
                                           parcels.push_back({foreign_takers[item.node], item, place});
                                       }
                                       return parcels;
                                     }),
                         next_);
    comm::agree(comm_, [&] { note_arrivals(cross); });
    // Those who need elements ask for them, so here the senders receive.
    const auto wishes = deliver(comm_, comm::agree(comm_, [&] { return parcels_of_wishes(taker_of); }), 0);
    return comm::agree(comm_, [&] {
      const Directory gathered(gather);
      RouteStage stage{std::move(cross.places), std::move(cross.to), std::move(cross.from)};
      send_inside(stage, gather);
      receive_inside(stage, gathered);
      if (gathers)
        route_.stages.push_back({std::move(gather.places), std::move(gather.to), std::move(gather.from)});
      route_.crossing = static_cast<int>(route_.stages.size());
      route_.stages.push_back(std::move(stage));
      route_.stages.push_back(deal(wishes, Directory(cross)));
      return std::move(route_);
    });
  }

 private:
  std::int64_t ghost_place(std::int64_t ghost) const { return plan_.local_size + ghost; }
  std::int64_t element(std::int64_t local) const { return first_ + local; }

  void note_arrivals(const Delivery& delivery) {
    route_.elements.resize(route_.elements.size() + (delivery.end - next_));
    for (const auto& [item, place] : delivery.arrived)
      route_.elements[place - ghost_place(std::ssize(plan_.ghosts))] = item.element;
    next_ = delivery.end;
  }

  /// sender_to(node): who sends to it.
  template <class SenderTo>
  std::vector<Parcel> parcels_for_abroad(const SenderTo& sender_to) const {
    std::vector<Parcel> parcels;
    for (const auto& to : plan_.send_to) {
      if (nodes_.is_here(to.rank)) continue;
      const int node = nodes_.of[to.rank];
      for (const auto local : part(plan_.send_index, to))
        parcels.push_back({sender_to(node), {element(local), node}, local});
    }
    return parcels;
  }

  template <class TakerOf>
  std::vector<Parcel> parcels_of_wishes(const TakerOf& taker_of) const {
    std::vector<Parcel> parcels;
    for (const auto& from : plan_.receive_from) {
      if (nodes_.is_here(from.rank)) continue;
      for (std::int64_t g = from.begin; g < from.end; ++g)
        parcels.push_back({taker_of(from.rank), {plan_.ghosts[g], nodes_.name()}, ghost_place(g)});
    }
    return parcels;
  }

  /// What goes straight to a rank of this node, unless it has been gathered there.
  void send_inside(RouteStage& stage, const Delivery& gather) const {
    for (const auto& to : plan_.send_to) {
      if (!nodes_.is_here(to.rank)) continue;
      std::span<const std::int64_t> gathered;  // ascending
      const auto piece = std::ranges::find(gather.to, to.rank, &comm::Neighbour::rank);
      if (piece != gather.to.end()) gathered = part(gather.places, *piece);
      const auto begin = std::ssize(stage.index);
      for (const auto local : part(plan_.send_index, to)) {
        if (!std::ranges::binary_search(gathered, local)) stage.index.push_back(local);
      }
      if (std::ssize(stage.index) > begin) stage.to.push_back({to.rank, begin, std::ssize(stage.index)});
    }
  }

  /// What has been gathered here does not come again.
  void receive_inside(RouteStage& stage, const Directory& gathered) {
    for (const auto& from : plan_.receive_from) {
      if (!nodes_.is_here(from.rank)) continue;
      std::vector<std::int64_t> missing;
      for (std::int64_t g = from.begin; g < from.end; ++g) {
        if (const auto place = gathered.find(plan_.ghosts[g]))
          route_.copies.push_back({*place, ghost_place(g)});
        else
          missing.push_back(ghost_place(g));
      }
      if (!missing.empty()) stage.from.push_back(receive(from.rank, missing));
    }
  }

  /// Where a message arrives that holds the ghosts of these places: there if they are in a row.
  comm::Neighbour receive(int rank, std::span<const std::int64_t> places) {
    if (places.back() - places.front() + 1 == std::ssize(places))
      return {rank, places.front(), places.back() + 1};
    const std::int64_t begin = next_;
    for (const std::int64_t place : places) {
      route_.copies.push_back({next_++, place});
      route_.elements.push_back(plan_.ghosts[place - plan_.local_size]);
    }
    return {rank, begin, next_};
  }

  RouteStage deal(const Delivery& wishes, const Directory& crossed) {
    for (const auto& [item, place] : wishes.kept)
      route_.copies.push_back({*crossed.find(item.element), place});
    RouteStage stage;
    for (const Located& wish : wishes.arrived) stage.index.push_back(*crossed.find(wish.item.element));
    stage.to = wishes.from;
    for (const auto& taker : wishes.to) stage.from.push_back(receive(taker.rank, part(wishes.places, taker)));
    return stage;
  }

  const comm::Comm& comm_;
  const HaloPlan& plan_;
  Nodes nodes_;
  std::int64_t first_;  ///< element of x of this rank
  std::int64_t next_;   ///< place that is free
  NodeRoute route_;
};

}  // namespace

NodeRoute make_node_route(const comm::Comm& comm, const RowPartition& partition, const HaloPlan& plan,
                          int node, Crossing crossing) {
  return RouteMaker(comm, partition, plan, node).make(crossing);
}

}  // namespace ayatori::sparse
