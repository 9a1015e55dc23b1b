#pragma once

#include <unistd.h>

#include <cstdint>

namespace ayatori::bench {

/// Bytes of a core's first cache, of its second, and of the last; what is usual where the system does not
/// tell. Blocks of the kernels follow from them.
struct CacheSizes {
  std::int64_t first = std::int64_t{32} << 10;
  std::int64_t second = std::int64_t{256} << 10;
  std::int64_t last = std::int64_t{4} << 20;
};

inline CacheSizes cache_sizes() {
  CacheSizes sizes;
#if defined(_SC_LEVEL1_DCACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
  const auto ask = [](int name, std::int64_t& size) {
    if (const std::int64_t answer = sysconf(name); answer > 0) size = answer;
  };
  ask(_SC_LEVEL1_DCACHE_SIZE, sizes.first);
  ask(_SC_LEVEL2_CACHE_SIZE, sizes.second);
  ask(_SC_LEVEL3_CACHE_SIZE, sizes.last);
#endif
  return sizes;
}

}  // namespace ayatori::bench
