#include <algorithm>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/transfers/sparse_exchange.hpp"
#include "ayatori/sparse/halo/common.hpp"

namespace ayatori::sparse {

HaloPlan make_halo_plan(const comm::Comm& comm, const RowPartition& partition,
                        std::vector<std::int64_t> ghosts) {
  AYATORI_ASSERT(std::ranges::is_sorted(ghosts));
  std::vector<std::int64_t> offsets(comm.size() + 1);
  for (int r = 0; r <= comm.size(); ++r) {
    offsets[r] = std::ranges::lower_bound(ghosts, partition.starts()[r]) - ghosts.begin();
  }
  // Everybody tells the owners what it needs; what arrives is what this rank must send.
  const auto wanted = comm::sparse_alltoallv(comm, std::span<const std::int64_t>(ghosts), offsets);
  const Range mine = partition.range(comm.rank());
  return comm::agree(comm, [&] {
    HaloPlan plan;
    plan.local_size = static_cast<std::int32_t>(mine.size());
    plan.receive_from = neighbours(offsets);
    plan.send_to = neighbours(wanted.offsets);
    plan.send_index.resize(wanted.values.size());
    std::ranges::transform(wanted.values, plan.send_index.begin(), [&](std::int64_t global) {
      return static_cast<std::int32_t>(global - mine.begin);
    });
    plan.ghosts = std::move(ghosts);
    return plan;
  });
}

}  // namespace ayatori::sparse
