#include <gtest/gtest.h>

#include <fmt/format.h>

#include "ayatori/base/error.hpp"
#include "ayatori/eigen/reduction/reduction.hpp"
#include "ayatori/eigen/refine.hpp"
#include "ayatori/eigen/solve.hpp"
#include "ayatori/eigen/test_matrix.hpp"
#include "dense.hpp"
#include "world.hpp"

namespace ayatori::eigen {
namespace {

constexpr double single_eps = std::numeric_limits<float>::epsilon();

/// max_ij |(A Z - Z D)_ij| and max_ij |(Z^T Z - I)_ij|, counted here.
std::pair<double, double> errors(const std::vector<double>& a, const EigenResult& result) {
  const auto n = static_cast<std::int64_t>(result.values.size());
  const auto z = world().allgatherv(std::span<const double>(result.vectors.values)).values;
  std::vector<double> residual(n * n);
  std::vector<double> gram_matrix(n * n);
  const ConstBlock of_z{z.data(), n, n, n};
  multiply(1, Op::none, {a.data(), n, n, n}, Op::none, of_z, 0, {residual.data(), n, n, n});
  multiply(1, Op::transpose, of_z, Op::none, of_z, 0, {gram_matrix.data(), n, n, n});
  for (std::int64_t j = 0; j < n; ++j) {
    gram_matrix[j * n + j] -= 1;
    for (std::int64_t i = 0; i < n; ++i) residual[j * n + i] -= result.values[j] * z[j * n + i];
  }
  return {max_abs(residual), max_abs(gram_matrix)};
}

EigenOptions with(Precision precision, std::string_view reduction = "auto") {
  EigenOptions options;
  options.block = 16;
  options.precision = precision;
  options.reduction = reduction;
  return options;
}

/// In single precision: errors of floats, by both reductions, of all spectra; and not of doubles.
TEST(EigenPrecision, FloatIsAsGoodAsFloatsAre) {
  const auto grid = make_grid(world(), {});
  for (const Spectrum& spectrum : spectra()) {
    for (const std::int64_t n : {2, 50}) {
      const auto a = make_test_matrix(grid, {n, std::string(spectrum.name), 1, 5});
      const auto dense = whole(a);
      const auto expected = reference_values(dense, n);
      const double size = std::max(max_abs(expected), std::numeric_limits<double>::min());
      for (const Reduction& reduction : reductions()) {
        SCOPED_TRACE(fmt::format("{} n={} {}", spectrum.name, n, reduction.name));
        const auto result = solve_symmetric(a, with(Precision::float32, reduction.name));
        EXPECT_TRUE(result.check.passed());
        EXPECT_EQ(result.precision, Precision::float32);
        const double bound = 3 * static_cast<double>(n) * single_eps;
        EXPECT_LE(distance(result.values, expected) / size, bound);
        const auto [residual, orthogonality] = errors(dense, result);
        EXPECT_LE(residual / size, bound);
        EXPECT_LE(orthogonality, bound);
      }
    }
  }
  const TestMatrix spec{97, "uniform", 1, 5};
  const auto result = solve_symmetric(make_test_matrix(grid, spec), with(Precision::float32));
  EXPECT_GE(distance(result.values, eigenvalues_of(spec)), 1e-9);  // it was not done in doubles
}

TEST(EigenPrecision, FloatSelectsAndScales) {
  const auto grid = make_grid(world(), {});
  const TestMatrix spec{60, "uniform", 1e200, 2};  // far beyond floats
  const auto a = make_test_matrix(grid, spec);
  const auto all = eigenvalues_of(spec);
  EigenOptions options = with(Precision::float32);
  options.selection = {Selection::Kind::smallest, 4, 0, 0};
  for (const bool vectors : {true, false}) {
    options.vectors = vectors;
    const auto result = solve_symmetric(a, options);
    EXPECT_TRUE(result.check.passed());
    EXPECT_LE(distance(result.values, {all.begin(), all.begin() + 4}) / 1e200, 60 * single_eps);
    EXPECT_EQ(result.vectors.count, vectors ? 4 : 0);
  }
}

/// Errors of doubles, without that doubles were fallen back on.
TEST(EigenPrecision, MixedIsAsGoodAsDoublesAre) {
  const auto grid = make_grid(world(), {});
  for (const char* spectrum : {"uniform", "clustered", "graded", "wilkinson", "zero", "identity"}) {
    for (const std::int64_t n : {1, 2, 97}) {
      SCOPED_TRACE(fmt::format("{} n={}", spectrum, n));
      const auto a = make_test_matrix(grid, {n, spectrum, 1, 5});
      const auto dense = whole(a);
      const auto expected = reference_values(dense, n);
      const double size = std::max(max_abs(expected), std::numeric_limits<double>::min());
      const auto result = solve_symmetric(a, with(Precision::mixed));
      // Most of a graded matrix's eigenvalues are one cluster: more ranks than one leave it to doubles.
      EXPECT_TRUE(result.precision == Precision::mixed || std::string_view(spectrum) == "graded");
      EXPECT_GE(result.refinement_steps, 1);
      EXPECT_TRUE(result.check.passed());
      const double bound = 3 * static_cast<double>(n) * eps;
      // At the border of a cluster rounding over small gaps leaves more, with some BLAS; tests of LAPACK
      // allow 30.
      EXPECT_LE(distance(result.values, expected) / size, 10 * bound);
      const auto [residual, orthogonality] = errors(dense, result);
      EXPECT_LE(residual / size, bound);
      EXPECT_LE(orthogonality, bound);
    }
  }
}

/// Eigenvalues that floats cannot tell from each other, and doubles can: some, and, which is as much work as
/// the whole problem, all.
TEST(EigenPrecision, ClustersThatOnlyDoublesSee) {
  const auto grid = make_grid(world(), {});
  constexpr std::int64_t n = 96;
  const auto make = [&](std::int64_t group) {
    // Block diagonal, of matrices with eigenvalues within some 1e-8 of c, c an integer.
    auto a = make_dense(grid, n);
    fill(a, [&](std::int64_t i, std::int64_t j) {
      if (i / group != j / group) return 0.0;
      const std::int64_t number = i / group + 1;
      const double base = i == j ? static_cast<double>(number) : 0.0;
      return base + 1e-9 * std::cos(static_cast<double>(i * j)) +
             (i == j ? 1e-9 * static_cast<double>(i % group) : 0.0);
    });
    return a;
  };
  for (const std::int64_t group : {6, 96}) {
    const auto a = make(group);
    const auto result = solve_symmetric(a, with(Precision::mixed));
    EXPECT_EQ(result.precision, group == n ? Precision::float64 : Precision::mixed) << group;
    EXPECT_TRUE(result.check.passed());
    const auto [residual, orthogonality] = errors(whole(a), result);
    EXPECT_LE(residual, 1e-13);
    EXPECT_LE(orthogonality, 1e-13);
    EXPECT_LE(distance(result.values, reference_values(whole(a), n)), 1e-13);
  }
}

TEST(EigenPrecision, RefinementThatCannotConvergeSaysSo) {
  const auto grid = make_grid(world(), {});
  const std::int64_t n = 40;
  const auto a = make_test_matrix(grid, {n, "uniform", 1, 3});
  std::vector<double> values(n, 0.0);
  ColumnSpread x{n, n, {}};
  const Range mine = x.mine(world());
  x.values.assign(n * mine.size(), 0.5);  // a matrix of rank 1
  EXPECT_FALSE(refine(a, values, x).converged);
}

TEST(EigenPrecision, ContradictionsAreRefused) {
  EXPECT_THROW(parse_precision("half"), InputError);
  for (const auto precision : {Precision::float64, Precision::float32, Precision::mixed})
    EXPECT_EQ(parse_precision(name_of(precision)), precision);
  EigenOptions options = with(Precision::mixed);
  options.vectors = false;
  EXPECT_THROW(check(options, 10, 1), InputError);
  options.vectors = true;
  options.selection = {Selection::Kind::smallest, 3, 0, 0};
  EXPECT_THROW(check(options, 10, 1), InputError);
}

}  // namespace
}  // namespace ayatori::eigen
