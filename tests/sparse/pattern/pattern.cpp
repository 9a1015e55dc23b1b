#include "ayatori/sparse/pattern/pattern.hpp"

#include <gtest/gtest.h>

#include "sparse/local_matrices.hpp"

namespace ayatori::sparse {
namespace {

TEST(PatternFacts, OfASmallMatrixByHand) {
  // 1 2 . .
  // 2 3 . .
  // . . 4 .
  const Csr matrix = csr(3, 4, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 3}, {2, 2, 4}});
  const PatternFacts facts = pattern_facts(matrix);
  EXPECT_EQ(facts.rows, 3);
  EXPECT_EQ(facts.columns, 4);
  EXPECT_EQ(facts.nonzeros, 5);
  EXPECT_EQ(facts.longest_row, 2);
  EXPECT_EQ(facts.sell_entries, 16);
  EXPECT_FALSE(facts.sampled);
  EXPECT_EQ(facts.diagonals, 3);
  EXPECT_EQ(facts.diagonal_elements, 3 + 3 + 2);
  EXPECT_EQ(facts.main_diagonal_entries, 3);
  EXPECT_EQ(facts.blocks, (std::array<std::int64_t, 3>{2, 1, 1}));
  EXPECT_EQ(facts.runs, 0);
  EXPECT_EQ(facts.outside_runs, 5);
  EXPECT_TRUE(facts.gaps_fit_16_bits);
  EXPECT_FALSE(facts.symmetric);  // not square
}

TEST(GlanceAtBlocks, SeesUnknownsThatStandTogether) {
  const auto coupled = [](std::int32_t nodes, std::int32_t size) {  // each node with itself and the next
    std::vector<Entry> entries;
    for (std::int32_t i = 0; i < nodes * size; ++i)
      for (std::int32_t j = i / size * size; j < std::min(i / size + 2, nodes) * size; ++j)
        entries.push_back({i, j, 1.0});
    return csr(nodes * size, nodes * size, entries);
  };
  EXPECT_EQ(glance_at_blocks(coupled(100, 1))[0], 0.5) << "(3 + 1) / 8 places";
  EXPECT_EQ(glance_at_blocks(coupled(100, 2))[0], 1);
  EXPECT_EQ(glance_at_blocks(coupled(100, 3))[1], 1);
  EXPECT_LT(glance_at_blocks(coupled(100, 3))[0], 0.9);
  EXPECT_EQ(glance_at_blocks(coupled(100, 4)),
            (std::array<double, 3>{1, glance_at_blocks(coupled(100, 4))[1], 1}));
  EXPECT_EQ(glance_at_blocks(csr(0, 0, {})), (std::array<double, 3>{}));
  EXPECT_EQ(glance_at_blocks(csr(1, 1, {{0, 0, 1.0}})), (std::array<double, 3>{})) << "no whole block";
}

TEST(PatternFacts, OfAnEmptyMatrix) {
  for (const Csr& matrix : {csr(0, 0, {}), csr(0, 5, {}), csr(5, 0, {}), csr(7, 7, {})}) {
    const PatternFacts facts = pattern_facts(matrix);
    EXPECT_EQ(facts.rows, matrix.rows);
    EXPECT_EQ(facts.columns, matrix.columns);
    EXPECT_EQ(facts.nonzeros + facts.longest_row + facts.sell_entries + facts.diagonals + facts.runs, 0);
    EXPECT_EQ(facts.symmetric, matrix.rows == matrix.columns);
  }
}

TEST(PatternFacts, RunsOfAStencil) {
  const Csr matrix = stencil_5(16);
  const PatternFacts facts = pattern_facts(matrix);
  EXPECT_EQ(facts.diagonals, 5);
  EXPECT_EQ(facts.diagonal_elements, 256 + 2 * 255 + 2 * 240);
  // In each of 32 slices the main diagonal; 30 have a grid line below, 30 above; of left and right neighbours
  // the first and the last slice would leave x.
  EXPECT_EQ(facts.runs, 32 + 30 + 30 + 31 + 31);
  EXPECT_EQ(facts.outside_runs, 7 + 7);
  EXPECT_TRUE(facts.symmetric);
}

TEST(PatternFacts, SymmetryIsOfValuesToo) {
  EXPECT_TRUE(pattern_facts(csr(3, 3, {{0, 2, 5}, {1, 1, 1}, {2, 0, 5}})).symmetric);
  EXPECT_FALSE(pattern_facts(csr(3, 3, {{0, 2, 5}, {1, 1, 1}, {2, 0, 5.0000001}})).symmetric);
  EXPECT_FALSE(pattern_facts(csr(3, 3, {{0, 2, 5}, {1, 1, 1}})).symmetric);
  EXPECT_FALSE(pattern_facts(csr(3, 3, {{2, 0, 5}, {1, 1, 1}})).symmetric);
}

TEST(PatternFacts, GapsBeyond16Bits) {
  EXPECT_TRUE(pattern_facts(csr(1, 70000, {{0, 3, 1}, {0, 3 + 65535, 1}})).gaps_fit_16_bits);
  EXPECT_FALSE(pattern_facts(csr(1, 70000, {{0, 3, 1}, {0, 3 + 65536, 1}})).gaps_fit_16_bits);
}

TEST(PatternFacts, OfALargeMatrixAreEstimates) {
  const Csr matrix = stencil_5(400);
  const PatternFacts facts = pattern_facts(matrix);
  EXPECT_TRUE(facts.sampled);
  EXPECT_EQ(facts.diagonals, 5);
  EXPECT_TRUE(facts.symmetric);
  EXPECT_NEAR(static_cast<double>(facts.main_diagonal_entries), 160000.0, 1600.0);
  EXPECT_NEAR(static_cast<double>(facts.runs), 5 * 20000.0, 1000.0);
}

}  // namespace
}  // namespace ayatori::sparse
