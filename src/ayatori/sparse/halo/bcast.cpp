#include "ayatori/sparse/halo/common.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

namespace {

/// Every rank gets the whole vector, by one broadcast from each rank that owns some of it (Katagiri & Kuroda,
/// item v). The broadcasts block, so nothing overlaps with them.
class Bcast final : public HaloExchange {
 public:
  Bcast(comm::Comm comm, const RowPartition& partition, const HaloPlan& plan)
      : comm_(std::move(comm)),
        partition_(partition),
        plan_(plan),
        all_(partition.rows()),
        ghosts_(plan.ghosts.size()) {}

  void begin(std::span<const double> x) override {
    std::ranges::copy(x, all_.begin() + partition_.range(comm_.rank()).begin);
    for (int root = 0; root < partition_.ranks(); ++root) {
      const Range piece = partition_.range(root);
      if (!piece.empty()) comm_.broadcast(std::span(all_).subspan(piece.begin, piece.size()), root);
    }
  }

  std::span<const double> finish() override {
    pick_ghosts(plan_, all_, ghosts_);
    return ghosts_;
  }

 private:
  comm::Comm comm_;
  const RowPartition& partition_;
  const HaloPlan& plan_;
  Array<double> all_;
  Array<double> ghosts_;
};

HaloTraffic traffic(const HaloPlan& plan, const RowPartition& partition) {
  int broadcasts = 0;
  for (int r = 0; r < partition.ranks(); ++r) broadcasts += partition.range(r).empty() ? 0 : 1;
  return {partition.ranks() == 1 ? 0.0 : broadcasts, whole_vector_bytes(plan, partition)};
}

}  // namespace

const HaloType bcast_halo{"bcast", "every rank broadcasts its piece of the vector", make_exchange<Bcast>,
                          traffic};

}  // namespace ayatori::sparse
