#include "ayatori/eigen/work.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ayatori/eigen/reduction/back_transform.hpp"
#include "ayatori/eigen/reduction/reduction.hpp"
#include "ayatori/eigen/reduction/tridiagonalize.hpp"
#include "ayatori/eigen/standard_form.hpp"
#include "ayatori/eigen/test_matrix.hpp"
#include "ayatori/eigen/tridiagonal/divide_and_conquer.hpp"
#include "dense.hpp"
#include "world.hpp"

namespace ayatori::eigen {
namespace {

using Counts = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;  // calls, bytes

Counts forecast(const PhaseWork& work) {
  Counts counts;
  for (const Traffic& traffic : work.traffic) {
    if (traffic.operation == "message") continue;  // is not counted
    auto& [calls, bytes] = counts[std::string(traffic.operation)];
    calls += traffic.calls;
    bytes += traffic.bytes;
  }
  return counts;
}

/// What `run` costs on a grid whose collectives are counted.
template <class Run>
Counts measured(const ProcessGrid& grid, Run&& run) {
  const auto counting = std::make_shared<TimedCollectives>(grid.all);
  run(with_collectives(grid, counting));
  Counts counts;
  for (const auto& [operation, cost] : counting->costs()) counts[operation] = {cost.calls, cost.bytes};
  return counts;
}

TEST(EigenWork, CountsWhatIsSent) {
  for (const GridShape shape : shapes_of(world().size())) {
    const auto grid = make_grid(world(), shape);
    for (const auto& size : {std::pair<std::int64_t, std::int64_t>{3, 2}, {33, 7}}) {
      const std::int64_t n = size.first;
      const std::int64_t block = size.second;
      SCOPED_TRACE(fmt::format("n={} block={} on {}x{}", n, block, shape.rows, shape.columns));
      EigenOptions options{.selection = {}, .vectors = true, .block = block};
      const auto expected = work_of(n, shape, world().rank(), options, ProblemKind::generalized);
      auto a = make_test_matrix(grid, {n, "uniform", 1, 3});
      auto b = make_dense(grid, n);
      fill(b, [](std::int64_t i, std::int64_t j) { return i == j ? 1.0 : 1e-3; });
      Tridiagonal t;
      TridiagonalPairs<double> pairs;
      Array<double> z;
      const auto of_phase = [&](std::size_t phase, std::string_view name, auto&& run) {
        ASSERT_EQ(expected[phase].phase, name);
        EXPECT_EQ(forecast(expected[phase]), measured(grid, run)) << name;
      };
      of_phase(0, "reduction", [&](const ProcessGrid& counted) {
        a.grid = b.grid = counted;
        reduce_to_standard(a, b, block);
      });
      of_phase(1, "tridiagonalization", [&](const ProcessGrid& counted) {
        a.grid = counted;
        t = tridiagonalize(a, block);
      });
      pairs = divide_and_conquer(world(), t.diagonal, t.off_diagonal, [n = n](std::span<const double>) {
        return Range{0, n};
      });
      of_phase(3, "redistribution",
               [&](const ProcessGrid& counted) { z = spread_by_columns(counted.all, pairs); });
      const std::int64_t mine = split_evenly(n, world().size(), world().rank()).size();
      of_phase(4, "back_transformation", [&](const ProcessGrid& counted) {
        a.grid = counted;
        back_transform(a, t.tau, 1, block, {z.data(), n, mine, n});
      });
      of_phase(5, "back_substitution", [&](const ProcessGrid& counted) {
        b.grid = counted;
        back_substitute(b, block, {z.data(), n, mine, n});
      });
    }
  }
}

TEST(EigenWork, CountsWhatTwoStagesSend) {
  for (const GridShape shape : shapes_of(world().size())) {
    const auto grid = make_grid(world(), shape);
    for (const auto& [n, block] : {std::pair<std::int64_t, std::int64_t>{3, 2}, {33, 7}, {20, 30}}) {
      SCOPED_TRACE(fmt::format("n={} block={} on {}x{}", n, block, shape.rows, shape.columns));
      const EigenOptions options{.selection = {}, .vectors = true, .block = block, .reduction = "two-stage"};
      const auto expected = work_of(n, shape, world().rank(), options, ProblemKind::standard);
      auto a = make_test_matrix(grid, {n, "uniform", 1, 3});
      std::unique_ptr<Reduced> reduced;
      EXPECT_EQ(forecast(expected[0]), measured(grid, [&](const ProcessGrid& counted) {
                  a.grid = counted;
                  reduced = find_reduction("two-stage", world().size()).reduce(a, block, true);
                }));
      const std::int64_t mine = split_evenly(n, world().size(), world().rank()).size();
      std::vector<double> z(n * mine, 1.0);
      EXPECT_EQ(forecast(expected[3]), measured(grid, [&](const ProcessGrid& counted) {
                  a.grid = counted;
                  reduced->back_transform({z.data(), n, mine, n});
                }));
    }
  }
}

/// The same messages as of doubles, of half the bytes where they are numbers.
TEST(EigenWork, CountsWhatIsSentOfFloats) {
  constexpr std::int64_t n = 33;
  const auto grid = make_grid(world(), {});
  for (const Reduction& kind : reductions()) {
    SCOPED_TRACE(kind.name);
    EigenOptions options{.selection = {}, .vectors = true, .block = 7};
    options.precision = Precision::float32;
    options.reduction = kind.name;
    const auto expected = work_of(n, grid.shape, world().rank(), options, ProblemKind::standard);
    auto a = convert<float>(make_test_matrix(grid, {n, "uniform", 1, 3}));
    std::unique_ptr<ReducedOf<float>> reduced;
    EXPECT_EQ(forecast(expected[0]), measured(grid, [&](const ProcessGrid& counted) {
                a.grid = counted;
                reduced = find_reduction<float>(kind.name, world().size()).reduce(a, options.block, true);
              }));
    const auto& t = reduced->tridiagonal();
    auto pairs = divide_and_conquer(world(), t.diagonal, t.off_diagonal, [](std::span<const float>) {
      return Range{0, n};
    });
    Array<float> z;
    EXPECT_EQ(forecast(expected[2]),
              measured(grid, [&](const ProcessGrid& counted) { z = spread_by_columns(counted.all, pairs); }));
    const std::int64_t mine = split_evenly(n, world().size(), world().rank()).size();
    EXPECT_EQ(forecast(expected[3]), measured(grid, [&](const ProcessGrid& counted) {
                a.grid = counted;
                reduced->back_transform({z.data(), n, mine, n});
              }));
  }
}

/// Deflation spares operations and bytes, but no call.
TEST(EigenWork, BoundsDivideAndConquer) {
  const auto grid = make_grid(world(), {});
  const auto merges = [&](std::int64_t n, const char* spectrum) {
    auto a = make_test_matrix(grid, {n, spectrum, 1, 3});
    const auto t = tridiagonalize(a, 16);
    const auto found = measured(grid, [&](const ProcessGrid& counted) {
      divide_and_conquer(counted.all, t.diagonal, t.off_diagonal, [n](std::span<const double>) {
        return Range{0, n};
      });
    });
    return std::pair(forecast(work_of(n, grid.shape, world().rank(), {}, ProblemKind::standard)[1]), found);
  };
  for (const char* spectrum : {"uniform", "clustered"}) {
    const auto [expected, found] = merges(90, spectrum);
    ASSERT_EQ(expected.size(), found.size());
    for (const auto& [operation, cost] : found) {
      EXPECT_EQ(cost.first, expected.at(operation).first) << operation;
      if (operation == "broadcast") {
        EXPECT_EQ(cost.second, expected.at(operation).second);
      } else {
        EXPECT_LE(cost.second, expected.at(operation).second);
      }
    }
  }
}

TEST(EigenWork, GrowsAsItShould) {
  const EigenOptions options;
  const auto flops = [&](std::int64_t n, GridShape shape) {
    double sum = 0;
    for (const auto& phase : work_of(n, shape, 0, options, ProblemKind::standard)) sum += phase.product_flops;
    return sum;
  };
  // 2/3 n^3 of the reduction, 4/3 of divide and conquer, 2 of back-transformation
  EXPECT_NEAR(flops(1000, {1, 1}) / 4e9, 1, 0.05);
  EXPECT_NEAR(flops(1000, {1, 1}) / flops(1000, {4, 8}), 32, 0.1);
  double streamed = 0;
  for (const auto& phase : work_of(1000, {1, 1}, 0, options, ProblemKind::standard))
    streamed += phase.streamed_bytes;
  EXPECT_NEAR(streamed / (8.0 / 6 * 1e9), 1, 0.4);  // every triangle once, and panels
  // Two stages: 4/3 n^3 for the band and 2 n^2 for each of its panels' factorizations; 6 n^2 for every
  // diagonal.
  const EigenOptions two_stages{.selection = {}, .vectors = false, .block = 32, .reduction = "two-stage"};
  const auto work = work_of(1000, {1, 1}, 0, two_stages, ProblemKind::standard)[0];
  EXPECT_NEAR(work.product_flops / (4.0 / 3 * 1e9), 1, 0.05);
  EXPECT_NEAR(work.cached_flops / (6 * 1e6 * 32), 1, 0.1);
  EXPECT_EQ(work.streamed_bytes, 0);
  EXPECT_EQ(work_of(100, {2, 2}, 0, {.selection = {}, .vectors = false}, ProblemKind::standard).size(), 2);
}

}  // namespace
}  // namespace ayatori::eigen
