#include "ayatori/sparse/halo/common.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

/// Receives are posted before anything is sent, so that no message arrives unexpected (Katagiri & Kuroda,
/// item v).
class P2pIrecvFirst final : public NeighbourMessages {
 public:
  using NeighbourMessages::NeighbourMessages;

  void begin(std::span<const double> x) override {
    post_receives();
    start_sends(x);
  }
};

}  // namespace

const HaloType p2p_irecv_first_halo{"p2p-irecv-first",
                                    "non-blocking messages between neighbours, receives posted first",
                                    make_exchange<P2pIrecvFirst>, neighbour_traffic};

}  // namespace ayatori::sparse
