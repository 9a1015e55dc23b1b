#include "ayatori/comm/shared_memory/mapped_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {
namespace {

#ifndef AYATORI_SMPI  // simulated ranks share none
using Source = MappedMemory::Source;

class MappedMemories : public testing::TestWithParam<Source> {
 protected:
  std::optional<MappedMemory> make(std::int64_t bytes) const {
    const Source sources[] = {GetParam()};
    return MappedMemory::make(
        node.rank(), bytes, [&](std::int64_t mine) { return node.allgather(mine); }, sources);
  }
  static std::int64_t bytes_of(int rank) { return 1000 + 9000 * rank; }

  const Comm node = Comm::world().split_by_node();
};

TEST_P(MappedMemories, EveryRankSeesAllParts) {
  auto memory = make(bytes_of(node.rank()));
  ASSERT_TRUE(memory);
  for (int r = 0; r < node.size(); ++r)
    EXPECT_EQ(std::count(memory->part(r), memory->part(r) + bytes_of(r), std::byte()), bytes_of(r));
  node.barrier();
  std::fill_n(memory->part(node.rank()), bytes_of(node.rank()), static_cast<std::byte>(node.rank() + 1));
  node.barrier();
  for (int r = 0; r < node.size(); ++r) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->part(r)) % 64, 0U);
    EXPECT_EQ(std::count(memory->part(r), memory->part(r) + bytes_of(r), static_cast<std::byte>(r + 1)),
              bytes_of(r));
  }
}

TEST_P(MappedMemories, OthersKeepWhatOneGivesBack) {
  auto memory = make(64);
  ASSERT_TRUE(memory);
  *memory->part(node.rank()) = static_cast<std::byte>(node.rank() + 1);
  node.barrier();
  if (node.rank() == 0) memory.reset();
  node.barrier();
  for (int r = 0; memory && r < node.size(); ++r) EXPECT_EQ(*memory->part(r), static_cast<std::byte>(r + 1));
  node.barrier();
}

TEST_P(MappedMemories, NobodyHasAnyIfOneWantsNone) {
  EXPECT_FALSE(make(node.rank() == node.size() - 1 ? -1 : 64));
}

/// All pages that there are and more: no rank has anything, and what was asked for is given back.
TEST_P(MappedMemories, MoreThanThereIsIsRefusedOnAllRanks) {
  if (GetParam() == Source::kernel) GTEST_SKIP() << "the kernel ends a process that takes all of its memory";
  const auto room = std::filesystem::space("/dev/shm");
  const auto share = static_cast<std::int64_t>(room.available) / node.size();
  if (share > (std::int64_t{1} << 30)) GTEST_SKIP() << "/dev/shm is large";
  EXPECT_FALSE(make(node.rank() == 0 ? 2 * share : share / 2));
  node.barrier();
  EXPECT_TRUE(make(share / 2));
}

TEST_P(MappedMemories, FilesThatMayNotBeAsLong) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit few{4096, before.rlim_max};
  if (node.rank() == 0) setrlimit(RLIMIT_FSIZE, &few);
  EXPECT_FALSE(make(10000));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(make(10000));
}

/// What is mapped has no name any more.
TEST_P(MappedMemories, NothingIsLeftBehind) {
  const auto memory = make(64);
  ASSERT_TRUE(memory);
  node.barrier();
  std::ifstream maps("/proc/self/maps");
  int mapped = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("ayatori") == std::string::npos || line.find("rw-s") == std::string::npos) continue;
    ++mapped;
    EXPECT_TRUE(line.ends_with("(deleted)")) << line;
  }
  EXPECT_EQ(mapped, 1);
  node.barrier();
}

INSTANTIATE_TEST_SUITE_P(From, MappedMemories, testing::Values(Source::kernel, Source::dev_shm),
                         [](const auto& source) {
                           return std::string(source.param == Source::kernel ? "Kernel" : "DevShm");
                         });
#endif

}  // namespace
}  // namespace ayatori::comm
