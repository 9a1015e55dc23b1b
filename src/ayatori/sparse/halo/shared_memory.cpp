#include "ayatori/comm/shared_memory/node_channel.hpp"
#include "ayatori/sparse/halo/common.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

/// Ranks of a node send through memory that they share, others by messages: threads and messages of COMPaS
/// (Tanaka et al.), but for processes.
class SharedMemoryHalo final : public HaloExchange, private comm::ChannelUser {
 public:
  SharedMemoryHalo(comm::Comm comm, const HaloPlan& plan, std::unique_ptr<comm::NodeChannel> channel)
      : comm_(std::move(comm)),
        plan_(plan),
        channel_(std::move(channel)),
        ghosts_(plan.ghosts.size()),
        outgoing_(plan.send_index.size()) {
    requests_.reserve(plan.receive_from.size() + plan.send_to.size());
    if (channel_) channel_->set_element(sizeof(double));
  }

  void begin(std::span<const double> x) override {
    for (const auto& from : plan_.receive_from) {
      const auto ghosts = part(ghosts_, from);
      if (is_near(from.rank))
        channel_->begin_receive(std::as_writable_bytes(ghosts), from.rank);
      else
        requests_.push_back(comm_.irecv(ghosts, from.rank, halo_tag));
    }
    pack(plan_, x, outgoing_);
    for (const auto& to : plan_.send_to) {
      const auto leaving = part(std::as_const(outgoing_), to);
      if (is_near(to.rank))
        channel_->begin_send(std::as_bytes(leaving), to.rank);
      else
        requests_.push_back(comm_.isend(leaving, to.rank, halo_tag));
    }
    if (channel_) channel_->start();
  }

  std::span<const double> finish() override {
    if (channel_) channel_->finish(*this);
    comm::wait_all(requests_);
    requests_.clear();
    return ghosts_;
  }

 private:
  bool is_near(int rank) const { return channel_ && channel_->reaches(rank); }
  void combine(const std::byte*, std::byte*, std::int64_t) override {}  // nothing that comes is combined
  void poke() override { comm_.poke(); }

  comm::Comm comm_;
  const HaloPlan& plan_;
  std::unique_ptr<comm::NodeChannel> channel_;
  Array<double> ghosts_;
  Array<double> outgoing_;
  std::vector<comm::Request> requests_;
};

std::unique_ptr<HaloExchange> make(const comm::Comm& comm, const RowPartition&, const HaloPlan& plan) {
  auto channel = comm::make_node_channel(comm, comm.split_by_node());
  return comm::agree(comm,
                     [&] { return std::make_unique<SharedMemoryHalo>(comm, plan, std::move(channel)); });
}

}  // namespace

const HaloType shared_memory_halo{"shared-memory", "through memory inside nodes, by messages between them",
                                  make, neighbour_traffic};

}  // namespace ayatori::sparse
