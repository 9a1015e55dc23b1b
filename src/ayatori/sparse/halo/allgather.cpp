#include <bit>

#include "ayatori/sparse/halo/common.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

/// Every rank gets the whole vector, by one collective (Katagiri & Kuroda, item v): for matrices so full that
/// most elements are needed everywhere. The collective blocks, so nothing overlaps with it.
class Allgather final : public HaloExchange {
 public:
  Allgather(comm::Comm comm, const RowPartition& partition, const HaloPlan& plan)
      : comm_(std::move(comm)), plan_(plan), all_(partition.rows()), ghosts_(plan.ghosts.size()) {
    displacements_.assign(partition.starts().begin(), partition.starts().end() - 1);
    for (int r = 0; r < partition.ranks(); ++r) counts_.push_back(partition.range(r).size());
  }

  void begin(std::span<const double> x) override {
    comm_.collectives().allgatherv(comm_, x.data(), static_cast<std::int64_t>(x.size()), all_.data(), counts_,
                                   displacements_, comm::DataType::float64);
  }

  std::span<const double> finish() override {
    pick_ghosts(plan_, all_, ghosts_);
    return ghosts_;
  }

 private:
  comm::Comm comm_;
  const HaloPlan& plan_;
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> displacements_;
  Array<double> all_;
  Array<double> ghosts_;
};

HaloTraffic traffic(const HaloPlan& plan, const RowPartition& partition) {
  const auto rounds = std::bit_width(static_cast<unsigned>(partition.ranks() - 1));  // log2, rounded up
  return {static_cast<double>(rounds), whole_vector_bytes(plan, partition)};
}

}  // namespace

const HaloType allgather_halo{"allgather", "one collective gives every rank the whole vector",
                              make_exchange<Allgather>, traffic};

}  // namespace ayatori::sparse
