#include "ayatori/base/memory.hpp"

#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>

namespace ayatori {

std::int64_t available_memory() {
  std::array<char, 256> beginning;  // start of the file: the line is among the first
  std::ifstream file("/proc/meminfo");
  file.read(beginning.data(), beginning.size());
  const std::string_view text(beginning.data(), file.gcount());
  constexpr std::string_view key = "MemAvailable:";
  const auto place = text.find(key);
  if (place != std::string_view::npos) {
    const auto number = text.find_first_of("0123456789", place + key.size());
    std::int64_t kibibytes = 0;
    if (number != std::string_view::npos &&
        std::from_chars(text.data() + number, text.data() + text.size(), kibibytes).ec == std::errc())
      return 1024 * kibibytes;
  }
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
}

std::int64_t free_memory() {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return 0;
  return static_cast<std::int64_t>(info.freeram) * static_cast<std::int64_t>(info.mem_unit);
}

std::int64_t peak_memory() {
  struct rusage usage {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return 1024 * static_cast<std::int64_t>(usage.ru_maxrss);
}

std::int64_t cache_of_core() {
  constexpr std::int64_t usual = 1 << 20;
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : usual;
}

}  // namespace ayatori
