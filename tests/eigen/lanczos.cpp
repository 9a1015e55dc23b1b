#include "ayatori/eigen/lanczos.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "ayatori/base/error.hpp"
#include "dense.hpp"
#include "dense_operator.hpp"

namespace ayatori::eigen {
namespace {

ProjectedOperator projected(const SymmetricOperator& a) {
  return {a.n, a.rows, a.apply, {}};
}

/// Those of all values, ascending, that are wanted.
std::vector<double> wanted_of(std::vector<double> all, Which which, std::int64_t count) {
  const auto n = static_cast<std::int64_t>(all.size());
  std::vector<double> wanted;
  if (which == Which::largest_magnitude || which == Which::smallest_magnitude) {
    const double sign = which == Which::largest_magnitude ? -1 : 1;
    std::ranges::sort(all, {}, [&](double x) { return sign * std::abs(x); });
    wanted.assign(all.begin(), all.begin() + count);
  } else {
    const std::int64_t high = which == Which::largest    ? count
                              : which == Which::smallest ? 0
                                                         : (count + 1) / 2;
    wanted.assign(all.begin(), all.begin() + (count - high));
    wanted.insert(wanted.end(), all.begin() + (n - high), all.end());
  }
  std::ranges::sort(wanted);
  return wanted;
}

double dot(std::span<const double> x, std::span<const double> y) {
  return world().allreduce(std::inner_product(x.begin(), x.end(), y.begin(), 0.0), comm::ReduceOp::sum);
}

/// Residuals, and orthogonality in the inner product.
void expect_pairs(const ProjectedOperator& a, const LanczosPairs& pairs, double tolerance) {
  const std::int64_t rows = a.rows.size();
  const auto count = std::ssize(pairs.values);
  std::vector<double> image(rows);
  for (std::int64_t j = 0; j < count; ++j) {
    const auto v = std::span(pairs.vectors).subspan(j * rows, rows);
    a.apply(v, image);
    double largest = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      largest = std::max(largest, std::abs(image[i] - pairs.values[j] * v[i]));
    EXPECT_LE(world().allreduce(largest, comm::ReduceOp::max), tolerance) << j;
    std::vector<double> weighed(v.begin(), v.end());
    if (a.inner) a.inner(v, weighed);
    for (std::int64_t i = 0; i <= j; ++i)
      EXPECT_NEAR(dot(std::span(pairs.vectors).subspan(i * rows, rows), weighed), i == j ? 1 : 0, 1e-12);
  }
}

TEST(Lanczos, FindsWhatIsWantedWithItsMultiplicities) {
  constexpr std::int64_t n = 169;
  const auto dense = laplacian(13, 1, 2.5);  // eigenvalues of both signs; most are double
  const auto values = reference_values(dense, n);
  const auto a = projected(dense_operator(dense, n));
  for (const auto which : {Which::largest_magnitude, Which::smallest_magnitude, Which::largest,
                           Which::smallest, Which::both_ends}) {
    for (const std::int64_t count : {1, 2, 5, 12}) {
      SCOPED_TRACE(fmt::format("{} of {}", count, static_cast<int>(which)));
      const auto pairs = lanczos(world(), a, {.count = count, .which = which, .basis = 4 * count + 20});
      ASSERT_TRUE(pairs.converged);
      const auto expected = wanted_of(values, which, count);
      ASSERT_EQ(pairs.values.size(), expected.size());
      for (std::int64_t j = 0; j < count; ++j) EXPECT_NEAR(pairs.values[j], expected[j], 1e-12) << j;
      expect_pairs(a, pairs, 1e-11);
    }
  }
}

/// Diagonal of n elements by a function of the row.
template <class Value>
ProjectedOperator diagonal(std::int64_t n, Value value) {
  const Range rows = split_evenly(n, world().size(), world().rank());
  return {n,
          rows,
          [rows, value](std::span<const double> x, std::span<double> y) {
            for (std::int64_t i = 0; i < rows.size(); ++i) y[i] = value(rows.begin + i) * x[i];
          },
          {}};
}

TEST(Lanczos, ClustersOfManyEqualValuesAreComplete) {
  // 7 times 10, 5 times 9, and others.
  const auto a = diagonal(200, [](std::int64_t i) {
    return i < 7 ? 10.0 : i < 12 ? 9.0 : 0.02 * static_cast<double>(i);
  });
  const auto pairs = lanczos(world(), a, {.count = 12, .which = Which::largest});
  ASSERT_TRUE(pairs.converged);
  for (std::int64_t j = 0; j < 12; ++j) EXPECT_NEAR(pairs.values[j], j < 5 ? 9 : 10, 1e-13);
  expect_pairs(a, pairs, 1e-12);
}

TEST(Lanczos, ZeroIdentityAndAllPairsInAnyScale) {
  for (const std::int64_t n : {1, 2, 5, 30}) {
    for (const double value : {0.0, 1.0, 1e-200, 1e200}) {
      for (const std::int64_t count : {std::int64_t{1}, n}) {
        SCOPED_TRACE(fmt::format("{} {} {}", n, value, count));
        const auto a = diagonal(n, [value](std::int64_t) { return value; });
        const auto pairs = lanczos(world(), a, {.count = count});
        ASSERT_TRUE(pairs.converged);
        ASSERT_EQ(std::ssize(pairs.values), count);
        for (const double found : pairs.values) EXPECT_NEAR(found, value, 1e-14 * value);
        expect_pairs(a, pairs, 1e-13 * std::max(value, 1.0));
      }
    }
  }
}

TEST(Lanczos, AnotherInnerProduct) {
  // B^-1 A of diagonal matrices, with B = diag(1, 2, 3, ...).
  constexpr std::int64_t n = 60;
  auto a = diagonal(
      n, [](std::int64_t i) { return static_cast<double>((i * 37) % n) / static_cast<double>(i + 1); });
  a.inner = diagonal(n, [](std::int64_t i) { return static_cast<double>(i + 1); }).apply;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i)
    values.push_back(static_cast<double>((i * 37) % n) / static_cast<double>(i + 1));
  std::ranges::sort(values);
  const auto pairs = lanczos(world(), a, {.count = 4, .which = Which::largest});
  ASSERT_TRUE(pairs.converged);
  for (std::int64_t j = 0; j < 4; ++j) EXPECT_NEAR(pairs.values[j], values[n - 4 + j], 1e-12 * values[n - 1]);
  expect_pairs(a, pairs, 1e-11);
}

TEST(Lanczos, GivesUpWithWhatHasConverged) {
  constexpr std::int64_t n = 400;
  const auto dense = laplacian(20);
  const auto a = projected(dense_operator(dense, n));
  const LanczosOptions options{.count = 6, .which = Which::smallest, .max_restarts = 3};
  const auto pairs = lanczos(world(), a, options);
  EXPECT_FALSE(pairs.converged);
  EXPECT_LT(pairs.values.size(), 6U);
  EXPECT_EQ(pairs.restarts, 3);
  expect_pairs(a, pairs, 1e-11);
}

TEST(Lanczos, StopsWhereOneRankWantsTo) {
  const auto a = projected(dense_operator(laplacian(20), 400));
  const bool is_last = world().rank() + 1 == world().size();
  const auto pairs =
      lanczos(world(), a, {.count = 6, .which = Which::smallest, .wants_stop = [&] { return is_last; }});
  EXPECT_TRUE(pairs.interrupted);
  EXPECT_FALSE(pairs.converged);
}

TEST(Lanczos, WrongCounts) {
  const auto a = diagonal(5, [](std::int64_t) { return 1.0; });
  EXPECT_THROW(lanczos(world(), a, {.count = 0}), InputError);
  EXPECT_THROW(lanczos(world(), a, {.count = 6}), InputError);
  const auto wrong = diagonal(5, [](std::int64_t) { return std::numeric_limits<double>::quiet_NaN(); });
  EXPECT_THROW(lanczos(world(), wrong, {.count = 1}), InputError);
}

}  // namespace
}  // namespace ayatori::eigen
