#include "ayatori/sparse/halo/node_aware.hpp"

#include <numeric>
#include <ranges>
#include <utility>

#include "ayatori/sparse/halo/common.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

/// Messages with a gather before them: out of one buffer, into another. What a rank has for itself is copied.
struct Hop {
  Array<std::int64_t> index;          ///< of the source: what leaves, grouped by receiver
  std::vector<comm::Neighbour> to;    ///< pieces of `index`
  std::vector<comm::Neighbour> from;  ///< pieces of the destination
  int tag = halo_tag;
  Array<double> outgoing;  ///< the elements of `index`
  std::vector<comm::Request> requests;

  /// Once the rest is known. Hops that may be under way together differ in their tags.
  void prepare(int tag_of_hop) {
    tag = tag_of_hop;
    outgoing.resize(index.size());
    requests.reserve(to.size() + from.size());
  }

  void start(const comm::Comm& comm, std::span<const double> source, std::span<double> destination) {
    for (const auto& piece : from) {
      if (piece.rank != comm.rank())
        requests.push_back(comm.irecv(part(destination, piece), piece.rank, tag));
    }
    parallel_for(static_cast<std::int64_t>(index.size()),
                 [&](std::int64_t i) { outgoing[i] = source[index[i]]; });
    for (const auto& piece : to) {
      const auto data = part(std::as_const(outgoing), piece);
      if (piece.rank != comm.rank())
        requests.push_back(comm.isend(data, piece.rank, tag));
      else
        std::ranges::copy(
            data, part(destination, *std::ranges::find(from, piece.rank, &comm::Neighbour::rank)).begin());
    }
  }

  void wait() {
    comm::wait_all(requests);
    requests.clear();
  }
};

/// The hops of a rank. An element that ranks of node T need from node S goes from its owner to an agent in S
/// (gather), with all others of that pair of nodes to an agent in T (cross), and from there to those who need
/// it (deal). What stays in the node goes straight there (direct).
struct Route {
  Hop direct;  ///< x to ghosts
  Hop gather;  ///< x to `gathered`
  Hop cross;   ///< `gathered` to `crossed`
  Hop deal;    ///< `crossed` to `dealt`
  Array<double> gathered;
  Array<double> crossed;
  Array<double> dealt;
  Array<std::int64_t> ghost;  ///< which ghost each of `dealt` is
};

class NodeAware final : public NodeAwareExchange {
 public:
  NodeAware(const comm::Comm& comm, Route route, const HaloPlan& plan)
      : comm_(comm), route_(std::move(route)), ghosts_(plan.ghosts.size()) {}

  void begin(std::span<const double> x) override {
    route_.gather.start(comm_, x, route_.gathered);
    route_.direct.start(comm_, x, ghosts_);
    route_.gather.wait();
    route_.cross.start(comm_, route_.gathered, route_.crossed);
  }

  std::span<const double> finish() override {
    route_.cross.wait();
    route_.deal.start(comm_, route_.crossed, route_.dealt);
    route_.deal.wait();
    route_.direct.wait();
    parallel_for(static_cast<std::int64_t>(route_.dealt.size()),
                 [&](std::int64_t i) { ghosts_[route_.ghost[i]] = route_.dealt[i]; });
    return ghosts_;
  }

  std::span<const comm::Neighbour> sent_abroad() const override { return route_.cross.to; }

 private:
  comm::Comm comm_;
  Route route_;
  Array<double> ghosts_;
};

/// An element of x, by its global number, that is wanted on a node.
struct Item {
  std::int64_t node;
  std::int64_t global;
  auto operator<=>(const Item&) const = default;
};

/// An item on its way: to a rank, out of a place in a buffer of this rank.
struct Parcel {
  int to;
  Item item;
  std::int64_t place;
  auto operator<=>(const Parcel&) const = default;
};

/// What a set of parcels means to both ends.
struct Delivery {
  Array<std::int64_t> places;         ///< of what this rank sends, grouped by receiver
  std::vector<comm::Neighbour> to;    ///< pieces of `places`
  std::vector<Item> items;            ///< what arrives here
  std::vector<comm::Neighbour> from;  ///< pieces of `items`
};

/// Collective. Tells the receivers what comes; equal parcels are sent once.
Delivery deliver(const comm::Comm& comm, std::vector<Parcel> parcels) {
  Delivery delivery;
  std::vector<Item> items;
  std::vector<std::int64_t> offsets(comm.size() + 1);
  comm::agree(comm, [&] {
    std::ranges::sort(parcels);
    const auto [first, last] = std::ranges::unique(parcels);
    parcels.erase(first, last);
    for (const Parcel& parcel : parcels) {
      items.push_back(parcel.item);
      delivery.places.push_back(parcel.place);
      ++offsets[parcel.to + 1];
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    delivery.to = neighbours(offsets);
  });
  auto arrived = comm.alltoallv(std::span<const Item>(items), offsets);
  delivery.from = neighbours(arrived.offsets);
  delivery.items = std::move(arrived.values);
  return delivery;
}

/// The ranks and their nodes. A node is named by its lowest rank.
struct Nodes {
  comm::Comm mine;           ///< the ranks of this node
  std::vector<int> members;  ///< of this node: their ranks in the whole
  std::vector<int> of;       ///< by rank

  /// Collective.
  Nodes(const comm::Comm& comm, int node)
      : mine(comm.split(node, comm.rank())),
        members(mine.allgather(comm.rank())),
        of(comm.allgather(members.front())) {}

  bool share(int a, int b) const { return of[a] == of[b]; }
};

/// By node, the rank of this node that deals with it, or -1: all nodes that any rank of this one has to do
/// with, shared out evenly.
using Agents = std::vector<int>;

/// Collective. `concerned` are the ranks that this one has to do with.
Agents share_out(const Nodes& nodes, std::span<const comm::Neighbour> concerned) {
  std::vector<std::int64_t> concerns(nodes.of.size(), 0);
  for (const auto& neighbour : concerned) concerns[nodes.of[neighbour.rank]] = 1;
  nodes.mine.allreduce(std::span(concerns), comm::ReduceOp::max);
  Agents agents(concerns.size(), -1);
  std::size_t next = 0;
  for (std::size_t node = 0; node < agents.size(); ++node) {
    if (concerns[node] == 0 || static_cast<int>(node) == nodes.members.front()) continue;
    agents[node] = nodes.members[next++ % nodes.members.size()];
  }
  return agents;
}

/// Collective. By node, the rank of it that takes what this node sends there; `takers` are those of this
/// node.
Agents takers_elsewhere(const comm::Comm& comm, const Nodes& nodes, const Agents& takers) {
  std::vector<std::int64_t> offsets(comm.size() + 1, 0);  // every taker tells all ranks of the sending node
  for (int r = 0; r < comm.size(); ++r)
    offsets[r + 1] = offsets[r] + (takers[nodes.of[r]] == comm.rank() ? 1 : 0);
  const std::vector<char> word(offsets.back(), 'I');
  const auto told = comm.alltoallv(std::span<const char>(word), offsets);
  Agents result(takers.size(), -1);
  for (int r = 0; r < comm.size(); ++r) {
    if (!told.of(r).empty()) result[nodes.of[r]] = r;
  }
  return result;
}

/// The places of `wanted` in `list`.
Array<std::int64_t> find(const std::vector<Item>& wanted, const std::vector<Item>& list) {
  Array<std::int64_t> order(list.size());
  std::iota(order.begin(), order.end(), 0);
  const auto global = [&](std::int64_t place) { return list[place].global; };
  std::ranges::sort(order, {}, global);
  Array<std::int64_t> places;
  places.reserve(wanted.size());
  for (const Item& item : wanted) places.push_back(*std::ranges::lower_bound(order, item.global, {}, global));
  return places;
}

/// All that stays in the node.
Hop make_direct(const comm::Comm& comm, const Nodes& nodes, const HaloPlan& plan) {
  Hop hop;
  for (const auto& from : plan.receive_from) {
    if (nodes.share(from.rank, comm.rank())) hop.from.push_back(from);
  }
  for (const auto& to : plan.send_to) {
    if (!nodes.share(to.rank, comm.rank())) continue;
    const auto begin = static_cast<std::int64_t>(hop.index.size());
    const auto local = part(plan.send_index, to);
    hop.index.insert(hop.index.end(), local.begin(), local.end());
    hop.to.push_back({to.rank, begin, begin + to.end - to.begin});
  }
  return hop;
}

/// Collective. All that leaves the node or enters it.
Route make_route(const comm::Comm& comm, const Nodes& nodes, const RowPartition& partition,
                 const HaloPlan& plan) {
  const Agents senders = share_out(nodes, plan.send_to);
  const Agents takers = share_out(nodes, plan.receive_from);
  const Agents foreign_takers = takers_elsewhere(comm, nodes, takers);
  const auto abroad = [&](const comm::Neighbour& n) { return !nodes.share(n.rank, comm.rank()); };

  auto gather = deliver(comm, comm::agree(comm, [&] {
                          std::vector<Parcel> parcels;
                          const std::int64_t first = partition.range(comm.rank()).begin;
                          for (const auto& to : plan.send_to | std::views::filter(abroad)) {
                            const int node = nodes.of[to.rank];
                            for (const auto local : part(plan.send_index, to))
                              parcels.push_back({senders[node], {node, first + local}, local});
                          }
                          return parcels;
                        }));
  auto cross = deliver(comm, comm::agree(comm, [&] {
                         std::vector<Parcel> parcels;
                         for (std::int64_t place = 0; const Item& item : gather.items)
                           parcels.push_back({foreign_takers[item.node], item, place++});
                         return parcels;
                       }));
  // Those who need elements ask for them, so here the senders receive.
  auto deal = deliver(comm, comm::agree(comm, [&] {
                        std::vector<Parcel> parcels;
                        for (const auto& from : plan.receive_from | std::views::filter(abroad)) {
                          const int node = nodes.of[from.rank];
                          for (std::int64_t g = from.begin; g < from.end; ++g)
                            parcels.push_back({takers[node], {node, plan.ghosts[g]}, g});
                        }
                        return parcels;
                      }));

  return comm::agree(comm, [&] {
    Route route;
    route.gathered.resize(gather.items.size());
    route.crossed.resize(cross.items.size());
    route.dealt.resize(deal.places.size());
    route.direct = make_direct(comm, nodes, plan);
    route.gather = {std::move(gather.places), std::move(gather.to), std::move(gather.from)};
    route.cross = {std::move(cross.places), std::move(cross.to), std::move(cross.from)};
    route.deal = {find(deal.items, cross.items), std::move(deal.from), std::move(deal.to)};
    route.ghost = std::move(deal.places);
    for (int tag = halo_tag; Hop * hop : {&route.direct, &route.gather, &route.cross, &route.deal})
      hop->prepare(tag++);
    return route;
  });
}

std::unique_ptr<HaloExchange> make(const comm::Comm& comm, const RowPartition& partition,
                                   const HaloPlan& plan) {
  const int node = comm.split_by_node().broadcast(comm.rank(), 0);
  return make_node_aware(comm, partition, plan, node);
}

/// Every ghost arrives once, in one message at least; elements for several ranks of a node may leave once
/// only.
HaloTraffic traffic(const HaloPlan& plan, const RowPartition&) {
  const bool idle = plan.send_to.empty() && plan.receive_from.empty();
  return {idle ? 0.0 : 1.0, 8.0 * static_cast<double>(plan.ghosts.size())};
}

}  // namespace

std::unique_ptr<NodeAwareExchange> make_node_aware(const comm::Comm& comm, const RowPartition& partition,
                                                   const HaloPlan& plan, int node) {
  const Nodes nodes(comm, node);
  Route route = make_route(comm, nodes, partition, plan);
  return comm::agree(comm, [&] { return std::make_unique<NodeAware>(comm, std::move(route), plan); });
}

const HaloType node_aware_halo{"node-aware", "one message between each pair of nodes, dealt out inside them",
                               make, traffic};

}  // namespace ayatori::sparse
