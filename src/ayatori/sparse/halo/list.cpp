#include <array>

#include "ayatori/base/find_named.hpp"
#include "ayatori/sparse/halo/strategies.hpp"

namespace ayatori::sparse {

std::span<const HaloType> halo_strategies() {
  static const std::array list{
      p2p_irecv_first_halo, allgather_halo, bcast_halo,         p2p_blocking_halo,
      p2p_isend_first_halo, rma_put_halo,   node_aware_halo,    node_aware_2step_halo,
#ifndef AYATORI_SMPI  // 3.32 has no neighbourhood collectives, its persistent requests deadlock, its ranks
                      // share no memory
      persistent_halo,      neighbor_halo,  shared_memory_halo,
#endif
  };
  return list;
}

HaloChoice halo_strategy(std::string_view name) {
  constexpr std::string_view suffix = "+overlap";
  const bool overlap = name.ends_with(suffix);
  if (overlap) name.remove_suffix(suffix.size());
  return {&find_named(halo_strategies(), name, "halo strategy"), overlap};
}

}  // namespace ayatori::sparse
