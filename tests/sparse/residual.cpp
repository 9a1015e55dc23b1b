#include "ayatori/sparse/residual.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "test_matrices.hpp"
#include "world.hpp"

namespace ayatori::sparse {
namespace {

/// A system whose residual is known.
struct Case {
  TestMatrix matrix{"cancelling", 0, {}};
  std::vector<double> x;
  std::vector<double> b;
  std::vector<double> exact;
};

/// Rows whose products cancel but for what b is away from them: integers, of which the sums are known.
Case cancelling_rows(std::int64_t n, double large) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int> small(-9, 9);
  Case test;
  test.matrix.n = n;
  for (std::int64_t i = 0; i < n; ++i) {
    test.x.push_back(1);
    const double tiny = small(random);
    test.matrix.entries.push_back({i, i, large});
    test.matrix.entries.push_back({i, (i + 1) % n, tiny});
    test.matrix.entries.push_back({i, (i + 2) % n, -large});
    test.b.push_back(1);
    test.exact.push_back(1 - tiny);
  }
  return test;
}

struct Computed {
  std::vector<double> r;
  double error = 0;  ///< bound of the norm
  double norm = 0;
};

Computed compute(const Case& test, Summation summation) {
  const SplitMatrix parts = split(world(), test.matrix.distribute(world()));
  const Range mine = parts.partition.range(world().rank());
  const auto x = piece(test.x, mine);
  const auto b = piece(test.b, mine);
  Array<double> r(x.size());
  const auto sums = residual(world(), parts, x, b, r, summation)[0];
  double both[2] = {sums.squares, sums.error_squares};
  world().allreduce(std::span<double>(both), comm::ReduceOp::sum);
  return {world().allgatherv(std::span<const double>(r)).values, std::sqrt(both[1]), std::sqrt(both[0])};
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

TEST(Residual, DoubledSumsAreExactWherePlainOnesLoseAll) {
  const Case test = cancelling_rows(50, 0x1p60);
  const Computed plain = compute(test, Summation::plain);
  EXPECT_GT(distance(plain.r, test.exact), 1);
  EXPECT_LE(distance(plain.r, test.exact), plain.error);
  const Computed doubled = compute(test, Summation::doubled);
  EXPECT_EQ(doubled.r, test.exact);
  EXPECT_LT(doubled.error, 1e-10);
}

TEST(Residual, BoundsHoldWhereDoubledSumsLoseDigitsToo) {
  const Case test = cancelling_rows(50, 0x1p120);
  const Computed doubled = compute(test, Summation::doubled);
  EXPECT_LE(distance(doubled.r, test.exact), doubled.error);
}

TEST(Residual, ProductsAreTakenWhole) {
  // (1 + 2^-30)^2 - (1 + 2^-29) = 2^-60, which a rounded product loses.
  Case test;
  test.matrix.n = 8;
  for (std::int64_t i = 0; i < 8; ++i) {
    test.matrix.entries.push_back({i, i, 1 + 0x1p-30});
    test.x.push_back(1 + 0x1p-30);
    test.b.push_back(1 + 0x1p-29);
    test.exact.push_back(-0x1p-60);
  }
  EXPECT_EQ(compute(test, Summation::doubled).r, test.exact);
  EXPECT_NE(compute(test, Summation::plain).r, test.exact);
}

TEST(Residual, RowsApartAreSummedApart) {
  const Case test = cancelling_rows(40, 4);
  const SplitMatrix parts = split(world(), test.matrix.distribute(world()));
  const Range mine = parts.partition.range(world().rank());
  const auto x = piece(test.x, mine);
  const auto b = piece(test.b, mine);
  Array<double> r(x.size());
  Array<std::uint8_t> apart(x.size());
  for (std::int64_t i = mine.begin; i < mine.end; ++i) apart[i - mine.begin] = i % 3 == 0 ? 1 : 0;
  const auto sums = residual(world(), parts, x, b, r, Summation::doubled, apart);
  double squares[2] = {sums[0].squares, sums[1].squares};
  world().allreduce(std::span<double>(squares), comm::ReduceOp::sum);
  double expected[2] = {0, 0};
  for (std::size_t i = 0; i < test.exact.size(); ++i)
    expected[i % 3 == 0 ? 1 : 0] += test.exact[i] * test.exact[i];
  EXPECT_DOUBLE_EQ(squares[0], expected[0]);
  EXPECT_DOUBLE_EQ(squares[1], expected[1]);
}

TEST(Residual, BorrowedRowsAreSummedAlike) {
  const std::vector<std::int64_t> start{0, 3};
  const std::vector<std::int64_t> column{0, 0, 0};
  const std::vector<double> value{0x1p70, 3, -0x1p70};
  const std::vector<double> one{1};
  std::vector<double> r(1);
  const auto sums = residual<std::int64_t>(1, start.data(), column.data(), value.data(), one, one, r,
                                           Summation::doubled, 1);
  EXPECT_EQ(r[0], -2);
  EXPECT_EQ(sums.squares, 4);
}

}  // namespace
}  // namespace ayatori::sparse
