#include "ayatori/base/memory.hpp"

#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

namespace ayatori {

std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    std::int64_t kibibytes = 0;
    if (key == "MemAvailable:" && file >> kibibytes) return 1024 * kibibytes;
  }
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
}

std::int64_t cache_of_core() {
  constexpr std::int64_t usual = 1 << 20;
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : usual;
}

}  // namespace ayatori
