#include "ayatori/comm/shared_memory/shared_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

namespace ayatori::comm {
namespace {

#ifndef AYATORI_SMPI  // simulated ranks share none
std::span<std::byte> part_of(const SharedMemory& memory, int rank) {
  return {memory.part(rank), static_cast<std::size_t>(1000 + 8 * rank)};
}

TEST(SharedMemory, EveryRankSeesAllParts) {
  const auto node = Comm::world().split_by_node();
  const SharedMemory memory(node, 1000 + 8 * node.rank());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.part(node.rank())) % 64, 0U);
  for (int r = 0; r < node.size(); ++r)
    EXPECT_EQ(std::ranges::count(part_of(memory, r), std::byte()), 1000 + 8 * r);
  node.barrier();
  std::ranges::fill(part_of(memory, node.rank()), static_cast<std::byte>(node.rank() + 1));
  node.barrier();
  for (int r = 0; r < node.size(); ++r)
    EXPECT_EQ(std::ranges::count(part_of(memory, r), static_cast<std::byte>(r + 1)), 1000 + 8 * r);
  node.barrier();
}
#endif

}  // namespace
}  // namespace ayatori::comm
