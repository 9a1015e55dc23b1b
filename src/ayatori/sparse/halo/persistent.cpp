#include "ayatori/comm/transfers/persistent_requests.hpp"
#include "ayatori/sparse/halo/common.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

/// The messages of p2p-irecv-first, whose arguments the MPI sees once instead of in every exchange.
class Persistent final : public HaloExchange {
 public:
  Persistent(const comm::Comm& comm, const RowPartition&, const HaloPlan& plan)
      : plan_(plan),
        ghosts_(plan.ghosts.size()),
        outgoing_(plan.send_index.size()),
        receives_(comm),
        sends_(comm) {
    for (const auto& from : plan.receive_from)
      receives_.add_receive(part(ghosts_, from), from.rank, halo_tag);
    for (const auto& to : plan.send_to)
      sends_.add_send(part(std::as_const(outgoing_), to), to.rank, halo_tag);
  }

  void begin(std::span<const double> x) override {
    receives_.start();
    pack(plan_, x, outgoing_);
    sends_.start();
  }

  std::span<const double> finish() override {
    receives_.wait();
    sends_.wait();
    return ghosts_;
  }

 private:
  const HaloPlan& plan_;
  Array<double> ghosts_;
  Array<double> outgoing_;
  comm::PersistentRequests receives_;
  comm::PersistentRequests sends_;
};

}  // namespace

const HaloType persistent_halo{"persistent",
                               "messages between neighbours that are prepared once, started often",
                               make_exchange<Persistent>, neighbour_traffic};

}  // namespace ayatori::sparse
