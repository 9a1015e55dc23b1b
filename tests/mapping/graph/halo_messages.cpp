#include "ayatori/mapping/graph/halo_messages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "ayatori/io/generator.hpp"
#include "ayatori/sparse/csr.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::mapping {
namespace {

using Sent = std::tuple<int, int, std::int64_t>;  ///< from, to, bytes

/// What the plan of the distributed matrix says, of all ranks.
std::vector<Sent> planned(const comm::Comm& comm, const sparse::HaloPlan& plan) {
  std::vector<std::int64_t> mine;
  for (const auto& neighbour : plan.send_to)
    mine.insert(mine.end(), {comm.rank(), neighbour.rank, 8 * (neighbour.end - neighbour.begin)});
  const auto all = comm.allgatherv(std::span<const std::int64_t>(mine)).values;
  std::vector<Sent> sent;
  for (std::size_t k = 0; k < all.size(); k += 3)
    sent.emplace_back(static_cast<int>(all[k]), static_cast<int>(all[k + 1]), all[k + 2]);
  std::ranges::sort(sent);
  return sent;
}

TEST(HaloMessages, AreThoseOfTheHaloPlan) {
  const auto world = comm::Comm::world();
  for (const char* spec : {"poisson3d-27:n=7", "convection2d:n=9", "random:n=200"}) {
    const auto block = io::generate(world, spec);
    const auto parts = sparse::split(world, block);
    const auto rows = sparse::partition_of(world, block);
    std::vector<std::int32_t> part_of;
    for (int rank = 0; rank < world.size(); ++rank)
      part_of.insert(part_of.end(), rows.range(rank).size(), rank);
    const auto matrix = io::generated_matrix(spec);
    const auto messages = halo_messages(part_of, world.size(), [&](std::int64_t row, auto&& use) {
      io::RowBuilder builder;
      matrix.row(row, builder);
      for (const auto& entry : builder.sorted()) use(entry.column);
    });
    std::vector<Sent> counted;
    for (const auto& message : messages) {
      EXPECT_EQ(message.messages, 1);
      counted.emplace_back(message.from, message.to, message.bytes);
    }
    std::ranges::sort(counted);
    EXPECT_EQ(counted, planned(world, parts.plan)) << spec;
    EXPECT_EQ(counted.empty(), world.size() == 1);
  }
}

TEST(HaloMessages, PartsNeedNotBeBlocksOfRows) {
  // A path of six rows, dealt to two parts: each needs all elements of the other.
  const std::vector<std::int32_t> part_of{0, 1, 0, 1, 0, 1};
  const auto messages = halo_messages(part_of, 2, [](std::int64_t row, auto&& use) {
    for (const std::int64_t column : {row - 1, row, row + 1}) {
      if (column >= 0 && column < 6) use(column);
    }
  });
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].from, 1);
  EXPECT_EQ(messages[0].to, 0);
  EXPECT_EQ(messages[0].bytes, 3 * 8);
  EXPECT_EQ(messages[1].bytes, 3 * 8);
}

}  // namespace
}  // namespace ayatori::mapping
