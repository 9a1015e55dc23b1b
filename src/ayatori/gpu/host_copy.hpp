#pragma once

#include <cstddef>

namespace ayatori::gpu {

/// memcpy by all threads. Device code does not see how: its compiler knows nothing of OpenMP.
void copy_by_threads(void* to, const void* from, std::size_t bytes);

}  // namespace ayatori::gpu
