#include "ayatori/session/problem/rows_in_memory.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ayatori/base/error.hpp"
#include "world.hpp"

namespace ayatori::session {
namespace {

template <class Index>
struct Arrays {
  std::vector<Index> start;
  std::vector<Index> column;
  std::vector<double> value;

  sparse::RowBlock rows(std::int64_t columns) const {
    return rows_in_memory(world(), std::span<const Index>(start), std::span<const Index>(column),
                          std::span<const double>(value), columns);
  }
};

template <class Index>
class RowsInMemory : public testing::Test {};
using Indices = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(RowsInMemory, Indices);

TYPED_TEST(RowsInMemory, AreThoseOfTheArraysInTheOrderOfRanks) {
  const std::int64_t columns = 2 * world().size();
  const auto block = Arrays<TypeParam>{{0, 1, 3}, {0, 0, 1}, {1, 2, 3}}.rows(columns);
  EXPECT_EQ(block.global_rows, columns);
  EXPECT_EQ(block.global_columns, columns);
  EXPECT_EQ(block.first_row, 2 * world().rank());
  EXPECT_EQ(block.row_start, (Array<std::int64_t>{0, 1, 3}));
  EXPECT_EQ(block.column, (Array<std::int64_t>{0, 0, 1}));
  EXPECT_EQ(block.value, (Array<double>{1, 2, 3}));
}

TYPED_TEST(RowsInMemory, ColumnsNeedNotAscendAndRepeatedOnesAreAdded) {
  const auto block =
      Arrays<TypeParam>{{0, 4, 4, 5}, {2, 0, 2, 1, 0}, {1, 2, 3, 4, 5}}.rows(3 * world().size());
  EXPECT_EQ(block.row_start, (Array<std::int64_t>{0, 3, 3, 4}));
  EXPECT_EQ(block.column, (Array<std::int64_t>{0, 1, 2, 0}));
  EXPECT_EQ(block.value, (Array<double>{2, 4, 4, 5}));
}

TYPED_TEST(RowsInMemory, RanksWithoutRowsHaveNone) {
  const bool is_first = world().rank() == 0;
  const auto arrays = is_first ? Arrays<TypeParam>{{0, 1}, {0}, {1}} : Arrays<TypeParam>{{0}, {}, {}};
  const auto block = arrays.rows(1);
  EXPECT_EQ(block.rows(), is_first ? 1 : 0);
  EXPECT_EQ(block.global_rows, 1);
}

TYPED_TEST(RowsInMemory, NumbersMayBeginWithOne) {
  const std::int64_t columns = 2 * world().size();
  const std::vector<TypeParam> start{1, 2, 4};
  const std::vector<TypeParam> column{1, 1, 2};
  const std::vector<double> value{1, 2, 3};
  const auto block = rows_in_memory<TypeParam>(world(), start, column, value, columns, 1);
  EXPECT_EQ(block.row_start, (Array<std::int64_t>{0, 1, 3}));
  EXPECT_EQ(block.column, (Array<std::int64_t>{0, 0, 1}));
  const std::vector<TypeParam> beyond{0, 1, 2};
  EXPECT_THROW(rows_in_memory<TypeParam>(world(), start, beyond, value, columns, 1), InputError);
}

/// What rank 0 says of its arrays, on every rank.
template <class Index>
std::string complaint_of(const Arrays<Index>& of_rank_0, std::int64_t columns = 4) {
  const auto arrays = world().rank() == 0 ? of_rank_0 : Arrays<Index>{{0}, {}, {}};
  try {
    arrays.rows(columns);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TYPED_TEST(RowsInMemory, WrongArraysAreRefusedOnEveryRank) {
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  using A = Arrays<TypeParam>;
  EXPECT_TRUE(has(complaint_of(A{{}, {}, {}}), "not the arrays"));
  EXPECT_TRUE(has(complaint_of(A{{0, 1}, {0}, {}}), "not the arrays"));
  EXPECT_TRUE(has(complaint_of(A{{0, 2}, {0}, {1}}), "from 0 to 2, but there are 1 entries"));
  EXPECT_TRUE(has(complaint_of(A{{1, 1}, {0}, {1}}), "from 1 to 1"));
  EXPECT_TRUE(has(complaint_of(A{{0, 2, 1}, {0}, {1}}),
                  "row 1 of the matrix (row 1 of rank 0, both counted from 1) begins at row pointer 0 and "
                  "ends at 2: want 0 to 1"));
  EXPECT_TRUE(has(complaint_of(A{{0, 1}, {4}, {1}}),
                  "row 1 of the matrix (row 1 of rank 0, both counted from 1) has column 4: the columns that "
                  "were given count from 0 to 3"));
  EXPECT_TRUE(has(complaint_of(A{{0, 1}, {-1}, {1}}), "column -1"));
  EXPECT_TRUE(
      has(complaint_of(A{{0, 2}, {1, 1}, {1e308, 1e308}}),
          "of row 1 of the matrix (row 1 of rank 0, both counted from 1) in column 2 have no finite sum"));
}

TYPED_TEST(RowsInMemory, RanksMustAgreeOnTheColumns) {
  if (world().size() == 1) return;
  const Arrays<TypeParam> none{{0}, {}, {}};
  EXPECT_THROW(none.rows(world().rank() == 0 ? 3 : 4), InputError);
}

}  // namespace
}  // namespace ayatori::session
