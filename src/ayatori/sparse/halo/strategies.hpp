#pragma once

#include "ayatori/sparse/halo.hpp"

// Each file of this folder defines one HaloType; list.cpp names them all.

namespace ayatori::sparse {

extern const HaloType p2p_irecv_first_halo;
extern const HaloType allgather_halo;

/// Message tag of the halo exchanges.
inline constexpr int halo_tag = 1;

}  // namespace ayatori::sparse
