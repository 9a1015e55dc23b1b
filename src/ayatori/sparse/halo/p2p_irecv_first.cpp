#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

/// Receives are posted before anything is sent, so that no message arrives unexpected (Katagiri & Kuroda,
/// item v).
class P2pIrecvFirst final : public HaloExchange {
 public:
  P2pIrecvFirst(comm::Comm comm, const HaloPlan& plan)
      : comm_(std::move(comm)), plan_(plan), ghosts_(plan.ghosts.size()), outgoing_(plan.send_index.size()) {
    requests_.reserve(plan.receive_from.size() + plan.send_to.size());
  }

  void begin(std::span<const double> x) override {
    for (const auto& from : plan_.receive_from) {
      requests_.push_back(
          comm_.irecv(std::span(ghosts_).subspan(from.begin, from.end - from.begin), from.rank, halo_tag));
    }
    parallel_for(static_cast<std::int64_t>(outgoing_.size()),
                 [&](std::int64_t i) { outgoing_[i] = x[plan_.send_index[i]]; });
    for (const auto& to : plan_.send_to) {
      requests_.push_back(comm_.isend(std::span<const double>(outgoing_).subspan(to.begin, to.end - to.begin),
                                      to.rank, halo_tag));
    }
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

const HaloType p2p_irecv_first_halo{
    "p2p-irecv-first", "non-blocking messages between neighbours, receives posted first",
    [](const comm::Comm& comm, const RowPartition&, const HaloPlan& plan) -> std::unique_ptr<HaloExchange> {
      return comm::agree(comm, [&] { return std::make_unique<P2pIrecvFirst>(comm, plan); });
    }};

}  // namespace ayatori::sparse
