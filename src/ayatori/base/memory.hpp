#pragma once

#include <cstdint>

namespace ayatori {

/// Bytes of memory that this node could still hand out without swapping, as its kernel estimates it.
std::int64_t available_memory();

/// Bytes of the largest cache that a core has to itself; a usual figure where the system does not tell.
std::int64_t cache_of_core();

}  // namespace ayatori
