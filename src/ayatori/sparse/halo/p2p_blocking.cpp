#include "ayatori/sparse/halo/common.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

/// One blocking send or receive after the other (Katagiri & Kuroda, item v; their default).
///
/// Ranks a and b meet in round (a xor b), where the lower sends first and receives then, and the higher the
/// other way round; every rank goes through its rounds in ascending order. Nobody waits for ever, even if no
/// send returns before its receive is posted: a round holds at most one partner for every rank (b = a xor
/// round), so the two ranks of a pair in the lowest round that is not done have nothing before each other,
/// and they agree on the order of their messages, of which either may be missing. It is also quick where
/// neighbours have neighbouring numbers: 2i and 2i + 1 meet in round 1, all such pairs at once, and no chain
/// of ranks waits for its first link.
class P2pBlocking final : public HaloExchange {
 public:
  P2pBlocking(comm::Comm comm, const RowPartition&, const HaloPlan& plan)
      : comm_(std::move(comm)), plan_(plan), ghosts_(plan.ghosts.size()), outgoing_(plan.send_index.size()) {
    const int rank = comm_.rank();
    for (const auto& to : plan.send_to) transfers_.push_back({to, true});
    for (const auto& from : plan.receive_from) transfers_.push_back({from, false});
    const auto order = [rank](const Transfer& t) {
      const int peer = t.neighbour.rank;
      return std::pair(rank ^ peer, t.is_send != (rank < peer));
    };
    std::ranges::sort(transfers_, {}, order);
  }

  void begin(std::span<const double> x) override {
    pack(plan_, x, outgoing_);
    for (const auto& [peer, is_send] : transfers_) {
      if (is_send)
        comm_.send(part(std::as_const(outgoing_), peer), peer.rank, halo_tag);
      else
        comm_.recv(part(ghosts_, peer), peer.rank, halo_tag);
    }
  }

  std::span<const double> finish() override { return ghosts_; }

 private:
  struct Transfer {
    comm::Neighbour neighbour;
    bool is_send;
  };

  comm::Comm comm_;
  const HaloPlan& plan_;
  Array<double> ghosts_;
  Array<double> outgoing_;
  std::vector<Transfer> transfers_;
};

}  // namespace

const HaloType p2p_blocking_halo{"p2p-blocking", "blocking messages, pair by pair in rounds",
                                 make_exchange<P2pBlocking>, neighbour_traffic};

}  // namespace ayatori::sparse
