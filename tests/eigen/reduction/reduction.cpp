#include "ayatori/eigen/reduction/reduction.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"
#include "ayatori/eigen/reduction/bulge_chasing.hpp"
#include "ayatori/eigen/reduction/choose_reduction.hpp"
#include "ayatori/eigen/test_matrix.hpp"
#include "eigen/dense.hpp"
#include "world.hpp"

namespace ayatori::eigen {
namespace {

TEST(EigenReduction, IsASimilarity) {
  for (const Reduction& reduction : reductions()) {
    for (const GridShape shape : shapes_of(world().size())) {
      const auto grid = make_grid(world(), shape);
      for (const std::int64_t n : {1, 2, 3, 5, 33, 70}) {
        for (const std::int64_t block : {1, 5, 32}) {
          SCOPED_TRACE(
              fmt::format("{} n={} block={} on {}x{}", reduction.name, n, block, shape.rows, shape.columns));
          auto a = make_test_matrix(grid, {n, "uniform", 1, 9});
          const auto before = whole(a);
          const auto reduced = reduction.reduce(a, block, true);
          expect_similarity(
              reduced->tridiagonal(), [&](Block z) { reduced->back_transform(z); }, before, n);
        }
      }
    }
  }
}

/// The numbers are those of a chase that keeps nothing for vectors.
TEST(EigenReduction, ValuesNeedNoReflectors) {
  const auto grid = make_grid(world(), {});
  for (const Reduction& reduction : reductions()) {
    auto a = make_test_matrix(grid, {50, "uniform", 1, 3});
    auto b = a;
    const auto with = reduction.reduce(a, 7, true);
    const auto without = reduction.reduce(b, 7, false);
    EXPECT_EQ(with->tridiagonal().diagonal, without->tridiagonal().diagonal) << reduction.name;
    EXPECT_EQ(with->tridiagonal().off_diagonal, without->tridiagonal().off_diagonal) << reduction.name;
  }
}

/// Bands have the eigenvalues of the matrix, and nothing beyond their width.
TEST(EigenReduction, BandIsSimilar) {
  for (const GridShape shape : shapes_of(world().size())) {
    const auto grid = make_grid(world(), shape);
    for (const auto& [n, width] :
         {std::pair<std::int64_t, std::int64_t>{61, 8}, {40, 39}, {40, 1}, {41, 20}}) {
      auto a = make_test_matrix(grid, {n, "uniform", 1, 9});
      const auto expected = reference_values(whole(a), n);
      const auto found = reduce_to_band(a, width);
      std::vector<double> dense(n * n, 0.0);
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t d = 0; d <= width && j + d < n; ++d) dense[j * n + j + d] = found.band.column(j)[d];
      }
      EXPECT_LE(distance(reference_values(dense, n), expected), 10 * static_cast<double>(n) * eps)
          << n << " " << width;
    }
  }
}

/// Every step belongs to one rank, which has it in all sweeps; ranks beyond the number of steps have none.
TEST(EigenReduction, StepsAreShared) {
  for (const auto& [n, width, ranks] :
       {std::array<std::int64_t, 3>{100, 8, 3}, {10, 4, 8}, {3, 2, 4}, {50, 49, 2}}) {
    const ChaseLayout layout(n, width, static_cast<int>(ranks));
    std::int64_t all = 0;
    for (std::int64_t s = 0; s < layout.sweeps(); ++s) {
      std::int64_t next = 0;
      for (int r = 0; r < ranks; ++r) {
        const Range steps = layout.steps_of(r, s);
        if (steps.empty()) continue;
        EXPECT_EQ(steps.begin, next);
        next = steps.end;
      }
      EXPECT_EQ(next, layout.steps(s));
      EXPECT_LT(layout.row(s, next - 1), n);
      EXPECT_GE(layout.row(s, next), n);
      all += next;
    }
    std::int64_t counted = 0;
    for (int r = 0; r < ranks; ++r) counted += layout.count_steps(r, {0, layout.sweeps()});
    EXPECT_EQ(counted, all);
  }
}

TEST(EigenReduction, AutoIsOneOfThem) {
  const auto grid = make_grid(world(), {});
  EigenOptions options;
  const auto small = make_test_matrix(grid, {50, "uniform", 1, 3});
  EXPECT_EQ(choose_reduction(small, options, ProblemKind::standard), "one-stage");  // not worth measuring
  options.block = 4;  // its probes are so small that a matrix of this order is worth them
  const auto large = make_test_matrix(grid, {400, "uniform", 1, 3});
  const std::string chosen = choose_reduction(large, options, ProblemKind::standard);
  EXPECT_NO_THROW(find_reduction(chosen, world().size()));
  EXPECT_EQ(world().broadcast(chosen, 0), chosen);
  options.reduction = "two-stage";
  EXPECT_EQ(choose_reduction(small, options, ProblemKind::standard), "two-stage");
}

TEST(EigenReduction, RatesPriceWork) {
  const ComputingRates rates{2, 4, 8};
  EXPECT_EQ(seconds_of({"", 2, 8, 32, {}}, rates), 1 + 2 + 4);
  EXPECT_GT(measure_chase_rate(8), 0);
}

TEST(EigenReduction, UnknownOnesAreNamed) {
  EXPECT_THROW(find_reduction("three-stage", 1), InputError);
  EXPECT_EQ(find_reduction("two-stage", 4).name, "two-stage");
}

}  // namespace
}  // namespace ayatori::eigen
