#include "ayatori/eigen/dense/process_grid.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"

namespace ayatori::eigen {
namespace {

TEST(EigenProcessGrid, NearSquare) {
  const auto expect = [](int ranks, int rows, int columns) {
    const GridShape shape = near_square(ranks);
    EXPECT_EQ(shape.rows, rows);
    EXPECT_EQ(shape.columns, columns);
  };
  expect(1, 1, 1);
  expect(2, 1, 2);
  expect(12, 3, 4);
  expect(13, 1, 13);
  expect(36, 6, 6);
}

TEST(EigenProcessGrid, ParsesShapes) {
  EXPECT_EQ(parse_grid_shape("auto").rows, 0);
  EXPECT_EQ(parse_grid_shape("2x13").rows, 2);
  EXPECT_EQ(parse_grid_shape("2x13").columns, 13);
  for (const char* wrong : {"", "2", "x", "2x", "x2", "2x0", "-1x2", "2x3x4", "2 x 3", "two"})
    EXPECT_THROW(parse_grid_shape(wrong), InputError) << wrong;
}

TEST(EigenProcessGrid, RowsAndColumnsOfRanks) {
  const auto world = comm::Comm::world();
  for (int rows = 1; rows <= world.size(); ++rows) {
    if (world.size() % rows != 0) {
      EXPECT_THROW(make_grid(world, {rows, world.size() / rows}), InputError);
      continue;
    }
    const auto grid = make_grid(world, {rows, world.size() / rows});
    EXPECT_EQ(grid.row * grid.shape.columns + grid.column, world.rank());
    EXPECT_EQ(grid.along_row.rank(), grid.column);
    EXPECT_EQ(grid.along_row.size(), grid.shape.columns);
    EXPECT_EQ(grid.along_column.rank(), grid.row);
    EXPECT_EQ(grid.along_column.size(), grid.shape.rows);
  }
}

TEST(EigenProcessGrid, CyclicIndices) {
  for (const std::int64_t n : {0, 1, 2, 7, 12}) {
    for (int parts = 1; parts <= 5; ++parts) {
      std::int64_t all = 0;
      for (int mine = 0; mine < parts; ++mine) {
        const Cyclic cyclic{n, parts, mine};
        all += cyclic.count();
        for (std::int64_t l = 0; l < cyclic.count(); ++l) {
          const std::int64_t g = cyclic.global(l);
          EXPECT_LT(g, n);
          EXPECT_TRUE(cyclic.owns(g));
          EXPECT_EQ(cyclic.local(g), l);
        }
        for (std::int64_t g = 0; g <= n + 1; ++g) {
          std::int64_t expected = 0;
          while (expected < cyclic.count() && cyclic.global(expected) < g) ++expected;
          EXPECT_EQ(cyclic.local_from(g), expected);
        }
      }
      EXPECT_EQ(all, n);
    }
  }
}

}  // namespace
}  // namespace ayatori::eigen
