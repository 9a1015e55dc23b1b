#pragma once

#include <cstdint>

namespace ayatori {

/// Bytes of memory that this node could still hand out without swapping, as its kernel estimates it.
std::int64_t available_memory();

}  // namespace ayatori
