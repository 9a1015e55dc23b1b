#include "ayatori/solvers/preconditioners/factorizations/column_marks.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "ayatori/base/random.hpp"

namespace ayatori::solvers {
namespace {

std::vector<std::int32_t> drained(ColumnMarks& marks, std::int32_t first, std::int32_t last) {
  std::vector<std::int32_t> columns{first};
  marks.drain(first, last, [&](std::int32_t j) { columns.push_back(j); });
  return columns;
}

TEST(ColumnMarks, AreMetByAscendingNumbers) {
  ColumnMarks marks(10000);
  const std::vector<std::int32_t> columns{0, 1, 7, 8, 63, 64, 511, 512, 4095, 4096, 9998, 9999};
  for (const std::size_t k : {5, 0, 11, 3, 1, 2, 10, 4, 6, 9, 7, 8}) marks.mark(columns[k]);
  std::int32_t j = 0;
  for (std::size_t k = 1; k < columns.size() - 1; ++k) {
    j = marks.next(j);
    EXPECT_EQ(j, columns[k]);
  }
  EXPECT_EQ(drained(marks, j, 9999), (std::vector<std::int32_t>{9998, 9999}));
}

TEST(ColumnMarks, AreGoneOnceDrained) {
  for (const std::int32_t n : {1, 8, 64, 65, 512, 5000}) {
    ColumnMarks marks(n);
    for (std::uint64_t row = 0; row < 50; ++row) {
      std::set<std::int32_t> columns;
      for (std::uint64_t k = 0; k < 1 + row; ++k)
        columns.insert(static_cast<std::int32_t>(random_uniform(row, k) * n));
      for (const std::int32_t j : columns) marks.mark(j);
      EXPECT_EQ(drained(marks, *columns.begin(), *columns.rbegin()),
                std::vector<std::int32_t>(columns.begin(), columns.end()))
          << n << " " << row;
    }
  }
}

TEST(ColumnMarks, MayBeAddedBeyondTheColumnThatIsMet) {
  ColumnMarks marks(1000);
  for (const std::int32_t j : {3, 900}) marks.mark(j);
  EXPECT_EQ(marks.next(3), 900);
  for (const std::int32_t j : {4, 5, 130, 899}) marks.mark(j);  // the search goes back
  EXPECT_EQ(marks.next(3), 4);
  EXPECT_EQ(marks.next(4), 5);
  EXPECT_EQ(marks.next(5), 130);
  EXPECT_EQ(drained(marks, 130, 900), (std::vector<std::int32_t>{130, 899, 900}));
}

}  // namespace
}  // namespace ayatori::solvers
