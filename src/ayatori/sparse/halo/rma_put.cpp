#include <numeric>

#include "ayatori/comm/transfers/sparse_exchange.hpp"
#include "ayatori/comm/transfers/window.hpp"
#include "ayatori/sparse/halo/common.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

std::vector<int> ranks_of(const std::vector<comm::Neighbour>& neighbours) {
  std::vector<int> ranks;
  for (const auto& n : neighbours) ranks.push_back(n.rank);
  return ranks;
}

/// Every rank writes into the ghosts of its neighbours: the remote memory transfer of COMPaS (Tanaka et al.).
/// The ghosts are posted for writing in begin() only, so that they can be read until then.
class RmaPut final : public HaloExchange {
 public:
  /// positions: where this rank's elements go among the ghosts of each receiver.
  RmaPut(comm::Window window, std::vector<std::int64_t> positions, const HaloPlan& plan)
      : plan_(plan),
        positions_(std::move(positions)),
        outgoing_(plan.send_index.size()),
        window_(std::move(window)),
        ghosts_(reinterpret_cast<const double*>(window_.data()), plan.ghosts.size()) {}

  void begin(std::span<const double> x) override {
    window_.post();
    pack(plan_, x, outgoing_);
    window_.start();
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      const auto& to = plan_.send_to[i];
      window_.put(part(std::as_const(outgoing_), to), to.rank, positions_[i]);
    }
  }

  std::span<const double> finish() override {
    window_.complete();
    window_.wait();
    return ghosts_;
  }

 private:
  const HaloPlan& plan_;
  std::vector<std::int64_t> positions_;
  Array<double> outgoing_;
  comm::Window window_;
  std::span<const double> ghosts_;
};

/// Collective. The position among the ghosts of each receiver that this rank's elements have.
std::vector<std::int64_t> receive_positions(const comm::Comm& comm, const HaloPlan& plan) {
  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> offsets(comm.size() + 1);
  comm::agree(comm, [&] {
    for (const auto& from : plan.receive_from) {
      begins.push_back(from.begin);
      offsets[from.rank + 1] = 1;
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  });
  return comm::sparse_alltoallv(comm, std::span<const std::int64_t>(begins), offsets).values;
}

std::unique_ptr<HaloExchange> make(const comm::Comm& comm, const RowPartition&, const HaloPlan& plan) {
  auto positions = receive_positions(comm, plan);
  const auto bytes = static_cast<std::int64_t>(sizeof(double) * plan.ghosts.size());
  comm::Window window(comm, bytes, ranks_of(plan.receive_from), ranks_of(plan.send_to));
  return comm::agree(comm,
                     [&] { return std::make_unique<RmaPut>(std::move(window), std::move(positions), plan); });
}

}  // namespace

const HaloType rma_put_halo{"rma-put", "one-sided: every rank writes into its neighbours' ghosts", make,
                            neighbour_traffic};

}  // namespace ayatori::sparse
