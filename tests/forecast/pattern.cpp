#include "ayatori/forecast/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/row_block.hpp"
#include "grids.hpp"

namespace ayatori::forecast {
namespace {

TEST(Spread, IsWhatTheDistributedMatrixHas) {
  const auto world = comm::Comm::world();
  for (const char* spec : {"poisson3d-27:n=7", "convection2d:n=9", "random:n=200"}) {
    const auto generated = io::load_matrix(world, spec).block;
    const auto target = sparse::balance_nonzeros(world, generated);
    const sparse::DistributedMatrix matrix(world, sparse::redistribute(world, generated, target));

    const auto pattern = pattern_of(spec);
    const auto part_of = partitions().front().parts(pattern, world.size());
    for (std::int64_t row = 0; row < pattern.rows(); ++row)
      ASSERT_EQ(part_of[row], target.owner(row)) << spec << ", row " << row;

    const auto spread = forecast::spread(pattern, part_of, world.size());
    const RankShare& mine = spread.ranks[world.rank()];
    const auto& parts = matrix.parts();
    EXPECT_EQ(mine.rows, parts.plan.local_size);
    EXPECT_EQ(mine.interior, parts.interior.nonzeros());
    EXPECT_EQ(mine.halo, parts.halo.nonzeros());
    EXPECT_EQ(mine.halo_rows, parts.halo.rows);
    EXPECT_EQ(mine.ghosts, static_cast<std::int64_t>(parts.plan.ghosts.size()));
    EXPECT_EQ(mine.sent, static_cast<std::int64_t>(parts.plan.send_index.size()));
    EXPECT_EQ(mine.matrix_bytes(), matrix.matrix_bytes()) << spec;
  }
}

TEST(Partitions, GiveEveryRowAPart) {
  const auto pattern = pattern_of("poisson2d-5:n=12");
  for (const Partition& partition : partitions()) {
    for (const int parts : {1, 2, 5, 16}) {
      const auto part_of = partition.parts(pattern, parts);
      ASSERT_EQ(static_cast<std::int64_t>(part_of.size()), pattern.rows());
      const std::set<std::int32_t> used(part_of.begin(), part_of.end());
      EXPECT_EQ(static_cast<int>(used.size()), parts) << partition.name;
      EXPECT_EQ(*used.begin(), 0);
      EXPECT_EQ(*used.rbegin(), parts - 1);
    }
  }
}

TEST(Partitions, TheGraphIsCutWhereLittleIs) {
  const auto pattern = pattern_of("poisson2d-5:n=32");
  const auto ghosts = [&](std::string_view name) {
    const auto& partition = find_named(partitions(), name, "partition");
    std::int64_t sum = 0;
    for (const RankShare& rank : spread(pattern, partition.parts(pattern, 16), 16).ranks) sum += rank.ghosts;
    return sum;
  };
  EXPECT_EQ(ghosts("rows"), 15 * 2 * 32) << "two whole lines at every border";
  EXPECT_LT(ghosts("graph"), ghosts("rows") * 3 / 4);
}

TEST(Partitions, MoreRanksThanRowsLeaveSomeWithNone) {
  const auto pattern = pattern_of("poisson2d-5:n=2");
  for (const char* name : {"contiguous", "rows"}) {
    const auto part_of = find_named(partitions(), name, "partition").parts(pattern, 9);
    const auto spread = forecast::spread(pattern, part_of, 9);
    std::int64_t rows = 0;
    for (const RankShare& rank : spread.ranks) rows += rank.rows;
    EXPECT_EQ(rows, 4);
  }
  EXPECT_THROW(find_named(partitions(), "graph", "partition").parts(pattern, 9), InputError);
}

}  // namespace
}  // namespace ayatori::forecast
