#pragma once

#include "ayatori/sparse/halo.hpp"

// Each file of this folder defines one HaloType; list.cpp names them all.

namespace ayatori::sparse {

extern const HaloType p2p_irecv_first_halo;
extern const HaloType allgather_halo;
extern const HaloType bcast_halo;
extern const HaloType p2p_blocking_halo;
extern const HaloType p2p_isend_first_halo;
extern const HaloType persistent_halo;
extern const HaloType neighbor_halo;
extern const HaloType rma_put_halo;
extern const HaloType node_aware_halo;
extern const HaloType node_aware_2step_halo;
extern const HaloType shared_memory_halo;

}  // namespace ayatori::sparse
