#pragma once

#include <cstdint>

namespace ayatori {

/// Bytes of memory that this node could still hand out without swapping, as its kernel estimates it.
std::int64_t available_memory();

/// Bytes that nobody uses: less than available_memory(), as caches of files count as used, and found in a
/// microsecond instead of tens.
std::int64_t free_memory();

/// Bytes of memory that this process has held at most so far.
std::int64_t peak_memory();

/// Bytes of the largest cache that a core has to itself; a usual figure where the system does not tell.
std::int64_t cache_of_core();

}  // namespace ayatori
