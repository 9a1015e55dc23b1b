#pragma once

#include <optional>

#include "ayatori/collectives/neighbourhood.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/halo.hpp"

namespace ayatori::tuning {

/// Collective. The messages of all ranks in an exchange as a schedule on rank 0, to be validated, priced,
/// replayed and drawn like any other; its buffer is x, of 8 bytes an element. Nothing on the other ranks, and
/// where the strategy does not tell its messages. Throws InputError (agreed) if x has 2^31 elements or more.
std::optional<collectives::Schedule> halo_schedule(const comm::Comm& comm,
                                                   const sparse::RowPartition& partition,
                                                   const sparse::HaloExchange& exchange);

/// Collective. What all ranks together want, on rank 0. Throws as above.
std::optional<collectives::Neighbourhood> halo_neighbourhood(const comm::Comm& comm,
                                                             const sparse::RowPartition& partition,
                                                             const sparse::HaloPlan& plan);

}  // namespace ayatori::tuning
