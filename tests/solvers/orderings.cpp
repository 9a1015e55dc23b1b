#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ayatori/solvers/preconditioners/orderings/matching.hpp"
#include "ayatori/solvers/preconditioners/orderings/reverse_cuthill_mckee.hpp"
#include "dense.hpp"

// Orders and scalings by which matrices are prepared for factorization.

namespace ayatori::solvers {
namespace {

using tests::Dense;

bool is_permutation_of_rows(const Array<std::int32_t>& order, std::int64_t n) {
  Array<std::int32_t> sorted(order.begin(), order.end());
  std::ranges::sort(sorted);
  Array<std::int32_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  return sorted == all;
}

/// Rows and columns in an order without any.
Dense shuffled(const Dense& a, std::uint64_t seed) {
  std::vector<std::int64_t> place(a.n);
  std::iota(place.begin(), place.end(), 0);
  std::ranges::sort(place, {}, [&](std::int64_t i) { return random_uniform(seed, i); });
  Dense result(a.n);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) result.at(place[i], place[j]) = a.at(i, j);
  return result;
}

TEST(ReverseCuthillMckee, FindsTheLine) {
  const auto matrix = tests::csr_of(shuffled(tests::laplacian_1d(50), 3));
  const auto order = reverse_cuthill_mckee(matrix);
  EXPECT_TRUE(is_permutation_of_rows(order, 50));
  EXPECT_EQ(profile(matrix, order), 49);
  EXPECT_GT(profile(matrix, {}), 200);
}

TEST(ReverseCuthillMckee, TakesPartsAndEmptyRows) {
  Dense a(30);  // two lines and five rows of zeros
  for (std::int64_t i = 0; i < 25; ++i)
    if (i != 9 && i != 24) a.at(i, i + 1) = 1;  // unsymmetric: the mirror image counts as well
  const auto matrix = tests::csr_of(shuffled(a, 5));
  const auto order = reverse_cuthill_mckee(matrix);
  EXPECT_TRUE(is_permutation_of_rows(order, 30));
  EXPECT_EQ(profile(matrix, order), 23);
  EXPECT_TRUE(reverse_cuthill_mckee(tests::csr_of(Dense(0))).empty());
}

std::vector<std::int32_t> sorted_neighbours(const PatternGraph& graph, std::int32_t i) {
  std::vector<std::int32_t> around(graph.around(i).begin(), graph.around(i).end());
  std::erase(around, i);
  std::ranges::sort(around);
  return around;
}

/// Entries (0, 1) and (1, 0), (0, 2) alone, and a diagonal.
TEST(PatternGraph, JoinsTheMirrorImage) {
  Dense a = tests::identity(4);
  a.at(0, 1) = a.at(1, 0) = a.at(0, 2) = 1;
  const auto matrix = tests::csr_of(a);
  const PatternGraph graph(matrix);
  EXPECT_FALSE(graph.is_of_symmetric_matrix());
  EXPECT_EQ(sorted_neighbours(graph, 0), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(sorted_neighbours(graph, 2), (std::vector<std::int32_t>{0}));
  EXPECT_TRUE(sorted_neighbours(graph, 3).empty());
  EXPECT_EQ(graph.degree(0), 3) << "entries, not neighbours";
  EXPECT_EQ(graph.degree(1), 2);
  EXPECT_EQ(graph.degree(2), 1);
}

TEST(PatternGraph, IsTheMatrixWhereItsPatternIsSymmetric) {
  Dense a = tests::laplacian_1d(5);
  const auto symmetric = tests::csr_of(a);
  a.at(0, 1) = 7;
  const auto unsymmetric_values = tests::csr_of(a);
  for (const auto* matrix : {&symmetric, &unsymmetric_values}) {
    const PatternGraph graph(*matrix);
    EXPECT_EQ(graph.is_of_symmetric_matrix(), matrix == &symmetric);
    EXPECT_EQ(graph.around(1).data(), matrix->column.data() + matrix->row_start[1]);
    EXPECT_EQ(sorted_neighbours(graph, 1), (std::vector<std::int32_t>{0, 2}));
    EXPECT_EQ(graph.degree(0), 1);
    EXPECT_EQ(graph.degree(1), 2);
  }
}

/// As of the matrix whose columns are there already.
TEST(PatternGraph, TakesColumnsInOtherPlaces) {
  const Dense a = tests::random_dominant(40, 0.1, 1, 8, false);
  const std::vector<std::int32_t> place = [] {
    std::vector<std::int32_t> result(40);
    for (std::int32_t j = 0; j < 40; ++j) result[j] = (7 * j + 3) % 40;
    return result;
  }();
  Dense moved(40);
  for (std::int64_t i = 0; i < 40; ++i)
    for (std::int64_t j = 0; j < 40; ++j) moved.at(i, place[j]) = a.at(i, j);
  const auto matrix = tests::csr_of(a);
  const auto moved_matrix = tests::csr_of(moved);
  const PatternGraph graph(matrix, place);
  const PatternGraph expected(moved_matrix);
  for (std::int32_t i = 0; i < 40; ++i) {
    EXPECT_TRUE(std::ranges::equal(graph.around(i), expected.around(i))) << i;
    EXPECT_EQ(graph.degree(i), expected.degree(i)) << i;
  }
  EXPECT_EQ(reverse_cuthill_mckee(graph), reverse_cuthill_mckee(expected));
}

TEST(ReverseCuthillMckee, NarrowsAGrid) {
  const auto matrix = tests::csr_of(shuffled(tests::laplacian_2d(12), 1));
  EXPECT_LT(profile(matrix, reverse_cuthill_mckee(matrix)), 144 * 13);
}

/// log2 of the product of the entries of a matching; of all permutations of n rows, the largest.
double best_of_all(const Dense& a) {
  std::vector<std::int64_t> column(a.n);
  std::iota(column.begin(), column.end(), 0);
  double best = -INFINITY;
  do {
    double sum = 0;
    for (std::int64_t i = 0; i < a.n; ++i) sum += std::log2(std::abs(a.at(i, column[i])));
    best = std::max(best, sum);
  } while (std::ranges::next_permutation(column).found);
  return best;
}

TEST(Matching, IsTheBestOfAllPermutations) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Dense a(6);
    for (std::int64_t i = 0; i < 6; ++i)
      for (std::int64_t j = 0; j < 6; ++j)
        if (random_uniform(seed, 6 * i + j) < 0.6)
          a.at(i, j) = std::pow(10.0, 12 * random_uniform(seed + 100, 6 * i + j) - 6) *
                       (random_uniform(seed + 200, 6 * i + j) < 0.5 ? -1 : 1);
    const Matching matching = maximum_product_matching(tests::csr_of(a));
    ASSERT_TRUE(is_permutation_of_rows(matching.column_of, 6));
    const double best = best_of_all(a);
    EXPECT_EQ(matching.unmatched > 0, best == -INFINITY) << seed;
    if (best == -INFINITY) continue;
    double sum = 0;
    for (std::int64_t i = 0; i < 6; ++i) sum += std::log2(std::abs(a.at(i, matching.column_of[i])));
    EXPECT_NEAR(sum, best, 1e-9) << seed;
  }
}

TEST(Matching, ScalesMatchedEntriesToOneAndOthersBelow) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Dense a = tests::random_dominant(60, 0.1, 0.01, seed, false);
    for (std::int64_t i = 0; i < 60; ++i)
      for (std::int64_t j = 0; j < 60; ++j) a.at(i, j) *= std::pow(10.0, static_cast<double>(i % 9 - j % 7));
    const Matching matching = maximum_product_matching(tests::csr_of(a));
    EXPECT_EQ(matching.unmatched, 0);
    for (std::int64_t i = 0; i < 60; ++i)
      for (std::int64_t j = 0; j < 60; ++j) {
        const double scaled = std::abs(matching.row_scale[i] * a.at(i, j) * matching.column_scale[j]);
        EXPECT_LE(scaled, 2.0 * (1 + 1e-9));
        if (matching.column_of[i] == j) {
          EXPECT_GE(scaled, 0.5 * (1 - 1e-9));
        }
      }
  }
}

TEST(Matching, CountsWhatCannotBeMatched) {
  Dense a = tests::identity(5);
  a.at(3, 3) = 0;
  a.at(3, 2) = 1;  // two rows want column 2
  const Matching matching = maximum_product_matching(tests::csr_of(a));
  EXPECT_EQ(matching.unmatched, 1);
  EXPECT_TRUE(is_permutation_of_rows(matching.column_of, 5));
  EXPECT_EQ(maximum_product_matching(tests::csr_of(Dense(4))).unmatched, 4);
  EXPECT_EQ(maximum_product_matching(tests::csr_of(Dense(0))).unmatched, 0);
}

}  // namespace
}  // namespace ayatori::solvers
