#include "ayatori/base/memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

namespace {

TEST(AvailableMemory, IsSomeOfWhatThereIs) {
  const std::int64_t all = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  EXPECT_GT(ayatori::available_memory(), 0);
  EXPECT_LT(ayatori::available_memory(), all) << "the kernel and this test take some";
}

TEST(FreeMemory, IsSomeOfWhatIsThere) {
  const std::int64_t all = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  EXPECT_GT(ayatori::free_memory(), 0);
  EXPECT_LT(ayatori::free_memory(), all);
}

TEST(PeakMemory, IsAtLeastWhatWasTouchedAndStaysWhenItIsGivenBack) {
  constexpr std::int64_t bytes = 64 << 20;
  {
    const std::vector<char> touched(bytes, 1);
    EXPECT_GE(ayatori::peak_memory(), bytes) << touched.size();
  }
  EXPECT_GE(ayatori::peak_memory(), bytes);
}

TEST(CacheOfCore, IsBetweenAFirstLevelsAndAllMemory) {
  EXPECT_GE(ayatori::cache_of_core(), 16 << 10);
  EXPECT_LT(ayatori::cache_of_core(), ayatori::available_memory());
}

}  // namespace
