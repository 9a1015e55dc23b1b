#include "ayatori/sparse/halo/common.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

/// Sends are started before receives are posted, so that data leaves as early as it can (Katagiri & Kuroda,
/// item v).
class P2pIsendFirst final : public NeighbourMessages {
 public:
  using NeighbourMessages::NeighbourMessages;

  void begin(std::span<const double> x) override {
    start_sends(x);
    post_receives();
  }
};

}  // namespace

const HaloType p2p_isend_first_halo{"p2p-isend-first",
                                    "non-blocking messages between neighbours, sends started first",
                                    make_exchange<P2pIsendFirst>, neighbour_traffic};

}  // namespace ayatori::sparse
