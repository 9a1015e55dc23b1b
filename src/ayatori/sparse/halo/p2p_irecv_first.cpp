#include "ayatori/sparse/halo/common.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

/// Receives are posted before anything is sent, so that no message arrives unexpected (Katagiri & Kuroda,
/// item v).
class P2pIrecvFirst final : public HaloExchange {
 public:
  P2pIrecvFirst(comm::Comm comm, const RowPartition&, const HaloPlan& plan)
      : comm_(std::move(comm)), plan_(plan), ghosts_(plan.ghosts.size()), outgoing_(plan.send_index.size()) {
    requests_.reserve(plan.receive_from.size() + plan.send_to.size());
  }

  void begin(std::span<const double> x) override {
    for (const auto& from : plan_.receive_from)
      requests_.push_back(comm_.irecv(part(ghosts_, from), from.rank, halo_tag));
    pack(plan_, x, outgoing_);
    for (const auto& to : plan_.send_to)
      requests_.push_back(comm_.isend(part(std::as_const(outgoing_), to), to.rank, halo_tag));
  }

  std::span<const double> finish() override {
    comm::wait_all(requests_);
    requests_.clear();
    return ghosts_;
  }

 private:
  comm::Comm comm_;
  const HaloPlan& plan_;
  Array<double> ghosts_;
  Array<double> outgoing_;
  std::vector<comm::Request> requests_;
};

}  // namespace

const HaloType p2p_irecv_first_halo{"p2p-irecv-first",
                                    "non-blocking messages between neighbours, receives posted first",
                                    make_exchange<P2pIrecvFirst>, neighbour_traffic};

}  // namespace ayatori::sparse
