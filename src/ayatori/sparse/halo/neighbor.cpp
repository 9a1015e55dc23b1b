#include "ayatori/comm/transfers/neighbour_exchange.hpp"
#include "ayatori/sparse/halo/common.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

/// The MPI knows the neighbours, and may order their messages as it sees fit.
class Neighbor final : public HaloExchange {
 public:
  Neighbor(comm::NeighbourExchange exchange, const HaloPlan& plan)
      : plan_(plan),
        ghosts_(plan.ghosts.size()),
        outgoing_(plan.send_index.size()),
        exchange_(std::move(exchange)) {}

  void begin(std::span<const double> x) override {
    pack(plan_, x, outgoing_);
    request_ = exchange_.start(std::span<const double>(outgoing_), std::span(ghosts_));
  }

  std::span<const double> finish() override {
    request_.wait();
    return ghosts_;
  }

 private:
  const HaloPlan& plan_;
  Array<double> ghosts_;
  Array<double> outgoing_;
  comm::NeighbourExchange exchange_;
  comm::Request request_;
};

std::unique_ptr<HaloExchange> make(const comm::Comm& comm, const RowPartition&, const HaloPlan& plan) {
  comm::NeighbourExchange exchange(comm, plan.send_to, plan.receive_from);
  return comm::agree(comm, [&] { return std::make_unique<Neighbor>(std::move(exchange), plan); });
}

}  // namespace

const HaloType neighbor_halo{"neighbor", "one non-blocking neighbourhood collective", make,
                             neighbour_traffic};

}  // namespace ayatori::sparse
