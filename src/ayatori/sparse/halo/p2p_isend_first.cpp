#include "ayatori/sparse/halo/common.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

/// Sends are started before receives are posted, so that data leaves as early as it can (Katagiri & Kuroda,
/// item v).
class P2pIsendFirst final : public HaloExchange {
 public:
  P2pIsendFirst(comm::Comm comm, const RowPartition&, const HaloPlan& plan)
      : comm_(std::move(comm)), plan_(plan), ghosts_(plan.ghosts.size()), outgoing_(plan.send_index.size()) {
    requests_.reserve(plan.receive_from.size() + plan.send_to.size());
  }

  void begin(std::span<const double> x) override {
    pack(plan_, x, outgoing_);
    for (const auto& to : plan_.send_to)
      requests_.push_back(comm_.isend(part(std::as_const(outgoing_), to), to.rank, halo_tag));
    for (const auto& from : plan_.receive_from)
      requests_.push_back(comm_.irecv(part(ghosts_, from), from.rank, halo_tag));
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

const HaloType p2p_isend_first_halo{"p2p-isend-first",
                                    "non-blocking messages between neighbours, sends started first",
                                    make_exchange<P2pIsendFirst>, neighbour_traffic};

}  // namespace ayatori::sparse
