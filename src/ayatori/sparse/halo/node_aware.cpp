#include "ayatori/sparse/halo/node_aware.hpp"

#include <utility>

#include "ayatori/sparse/halo/common.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

/// Carries out a route. The stages before the crossing are done in begin(), those after it in finish().
class NodeAware final : public HaloExchange {
 public:
  NodeAware(const comm::Comm& comm, NodeRoute route, const RowPartition& partition, const HaloPlan& plan)
      : comm_(comm),
        route_(std::move(route)),
        plan_(plan),
        first_(partition.range(comm.rank()).begin),
        arrived_(plan.ghosts.size() + route_.elements.size()) {
    for (const RouteStage& stage : route_.stages) {
      outgoing_.emplace_back(stage.index.size());
      requests_.reserve(stage.to.size() + stage.from.size());
    }
  }

  void begin(std::span<const double> x) override {
    for (int stage = 0; stage < route_.crossing; ++stage) {
      start(stage, x);
      wait();
    }
    start(route_.crossing, x);
  }

  std::span<const double> finish() override {
    wait();
    for (int stage = route_.crossing + 1; stage < std::ssize(route_.stages); ++stage) {
      start(stage, {});
      wait();
    }
    parallel_for(std::ssize(route_.copies), [&](std::int64_t i) {
      const auto [from, to] = route_.copies[i];
      arrived_[to - plan_.local_size] = arrived_[from - plan_.local_size];
    });
    return std::span(arrived_).first(plan_.ghosts.size());
  }

  std::optional<std::vector<HaloMessage>> messages() const override {
    std::vector<HaloMessage> list;
    for (int s = 0; s < std::ssize(route_.stages); ++s) {
      const RouteStage& stage = route_.stages[s];
      for (const auto& to : stage.to) {
        auto& message = list.emplace_back(HaloMessage{s, true, to.rank, {}});
        for (const std::int64_t place : part(stage.index, to)) message.elements.push_back(element(place));
      }
      for (const auto& from : stage.from) {
        auto& message = list.emplace_back(HaloMessage{s, false, from.rank, {}});
        for (std::int64_t place = from.begin; place < from.end; ++place)
          message.elements.push_back(element(place));
      }
    }
    return list;
  }

 private:
  /// After the crossing nothing is sent that this rank owns, so x need not be there.
  void start(int number, std::span<const double> x) {
    const RouteStage& stage = route_.stages[number];
    for (comm::Neighbour from : stage.from) {
      from.begin -= plan_.local_size;
      from.end -= plan_.local_size;
      requests_.push_back(comm_.irecv(part(arrived_, from), from.rank, halo_tag));
    }
    auto& outgoing = outgoing_[number];
    parallel_for(std::ssize(outgoing), [&](std::int64_t i) {
      const std::int64_t place = stage.index[i];
      outgoing[i] = place < plan_.local_size ? x[place] : arrived_[place - plan_.local_size];
    });
    for (const auto& to : stage.to)
      requests_.push_back(comm_.isend(part(std::as_const(outgoing), to), to.rank, halo_tag));
  }

  void wait() {
    comm::wait_all(requests_);
    requests_.clear();
  }

  std::int64_t element(std::int64_t place) const {
    const std::int64_t ghost = place - plan_.local_size;
    const auto ghosts = std::ssize(plan_.ghosts);
    if (ghost < 0) return first_ + place;
    return ghost < ghosts ? plan_.ghosts[ghost] : route_.elements[ghost - ghosts];
  }

  comm::Comm comm_;
  NodeRoute route_;
  const HaloPlan& plan_;
  std::int64_t first_;                   ///< element of x that this rank owns
  Array<double> arrived_;                ///< by place after the own elements
  std::vector<Array<double>> outgoing_;  ///< by stage: the elements of its index
  std::vector<comm::Request> requests_;
};

template <Crossing crossing>
std::unique_ptr<HaloExchange> make(const comm::Comm& comm, const RowPartition& partition,
                                   const HaloPlan& plan) {
  const int node = comm.split_by_node().broadcast(comm.rank(), 0);
  return make_node_aware(comm, partition, plan, node, crossing);
}

/// Every ghost arrives once, in one message at least; elements for several ranks of a node may leave once
/// only.
HaloTraffic traffic(const HaloPlan& plan, const RowPartition&) {
  const bool idle = plan.send_to.empty() && plan.receive_from.empty();
  return {idle ? 0.0 : 1.0, 8.0 * static_cast<double>(plan.ghosts.size())};
}

}  // namespace

std::unique_ptr<HaloExchange> make_node_aware(const comm::Comm& comm, const RowPartition& partition,
                                              const HaloPlan& plan, int node, Crossing crossing) {
  NodeRoute route = make_node_route(comm, partition, plan, node, crossing);
  return comm::agree(comm,
                     [&] { return std::make_unique<NodeAware>(comm, std::move(route), partition, plan); });
}

const HaloType node_aware_halo{"node-aware", "one message between each pair of nodes, dealt out inside them",
                               make<Crossing::by_agents>, traffic};
const HaloType node_aware_2step_halo{"node-aware-2step",
                                     "one message from each rank to each node, dealt out there",
                                     make<Crossing::by_owners>, traffic};

}  // namespace ayatori::sparse
