#include "ayatori/gpu/host_copy.hpp"

#include <cstdint>
#include <cstring>

#include "ayatori/base/parallel.hpp"

namespace ayatori::gpu {

void copy_by_threads(void* to, const void* from, std::size_t bytes) {
  parallel_ranges(static_cast<std::int64_t>(bytes), [&](Range range) {
    std::memcpy(static_cast<char*>(to) + range.begin, static_cast<const char*>(from) + range.begin,
                static_cast<std::size_t>(range.end - range.begin));
  });
}

}  // namespace ayatori::gpu
