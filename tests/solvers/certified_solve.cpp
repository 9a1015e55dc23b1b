#include "ayatori/solvers/certified_solve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "world.hpp"

namespace ayatori::solvers {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Diagonal, with entries 1 to 8 on every rank.
class Diagonal final : public sparse::LinearOperator {
 public:
  void apply(std::span<const double> x, std::span<double> y) const override {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = static_cast<double>(i + 1) * x[i];
  }
  std::int32_t local_size() const override { return 8; }
};

class Identity final : public sparse::LinearOperator {
 public:
  void apply(std::span<const double> x, std::span<double> y) const override { copy(x, y); }
  std::int32_t local_size() const override { return 8; }
};

const Diagonal matrix;
const Identity identity;

struct Solved {
  CertifiedResult result;
  std::vector<double> x;
  double error = 0;  ///< max |b - A x| on this rank, relative to the largest of b
};

Solved solve(const char* name, double scale, double rtol, double exaggeration = 1) {
  const GlobalSum sum(world());
  const std::vector<double> b(8, scale);
  Solved solved{{}, std::vector<double>(8, 0.0)};
  const System system{matrix, identity, b, sum};
  const ResidualFunction honest = residual_by_product(system);
  const auto residual = [&](ConstVector x, sparse::Summation summation, double unit) {
    sparse::ResidualSums sums = honest(x, summation, unit);
    sums.squares *= exaggeration * exaggeration;
    return sums;
  };
  const Tolerance tolerance = make_tolerance(sum, b, rtol, 0);
  solved.result = solve_certified(method(name), system, solved.x, residual, tolerance, {.restart = 3},
                                  orthogonalization("ircgs").apply, {});
  for (std::size_t i = 0; i < 8; ++i)
    solved.error = std::max(solved.error, std::abs(scale - static_cast<double>(i + 1) * solved.x[i]) / scale);
  return solved;
}

TEST(CertifiedSolve, TolerancesAreRightAtAnyScale) {
  const GlobalSum sum(world());
  const double elements = 2 * world().size();
  for (const double scale : {5e-324, 1e-310, 1e-300, 1e-160, 1.0, 1e160, 1e300}) {
    const std::vector<double> b{scale, -scale};
    const Tolerance tolerance = make_tolerance(sum, b, 1e-3, 0);
    EXPECT_NEAR(tolerance.b_norm / (std::sqrt(elements) * (scale / tolerance.unit)), 1, 1e-14) << scale;
    EXPECT_LE(tolerance.limit, 1e-3 * std::sqrt(elements) * (scale / tolerance.unit)) << scale;
    EXPECT_GT(tolerance.limit, 0.999e-3 * std::sqrt(elements) * (scale / tolerance.unit)) << scale;
    EXPECT_TRUE(std::isfinite(1 / tolerance.unit));
  }
}

TEST(CertifiedSolve, TheAbsoluteToleranceCountsWhereItIsLarger) {
  const GlobalSum sum(world());
  const std::vector<double> b{1e200};
  const Tolerance tolerance = make_tolerance(sum, b, 1e-8, 1e195);
  EXPECT_DOUBLE_EQ(tolerance.limit * tolerance.unit, 1e195);
  EXPECT_TRUE(std::isfinite(make_tolerance(sum, b, 1e-8, infinity).limit));
}

TEST(CertifiedSolve, NothingMeetsTheToleranceOfWhatIsNotFinite) {
  const GlobalSum sum(world());
  for (const double bad : {infinity, std::numeric_limits<double>::quiet_NaN()}) {
    const Tolerance tolerance = make_tolerance(sum, std::vector<double>{bad, 1.0}, 1e-8, 1);
    EXPECT_FALSE(CertifiedNorm{}.is_at_most(tolerance.limit));
  }
  const Tolerance endless = make_tolerance(sum, std::vector<double>{1.0}, 1e-8, infinity);
  EXPECT_FALSE((CertifiedNorm{infinity, 0, 0}.is_at_most(endless.limit)));
}

TEST(CertifiedSolve, SolvesAtAnyScale) {
  for (const char* name : {"cg", "gmres", "minres", "bicgstab"})
    for (const double scale : {1e-300, 1e-160, 1.0, 1e160, 1e300}) {
      const Solved solved = solve(name, scale, 1e-10);
      EXPECT_TRUE(solved.result.is_proved) << name << " " << scale;
      EXPECT_LE(solved.error, 1e-10 * std::sqrt(8 * world().size())) << name << " " << scale;
    }
}

TEST(CertifiedSolve, AimsLowerWhereAClaimIsRefuted) {
  // The method believes in a third of what is told it as true.
  const Solved solved = solve("cg", 1, 1e-6, 3);
  EXPECT_TRUE(solved.result.is_proved);
  EXPECT_LE(solved.error, 1e-6 / 3 * std::sqrt(8 * world().size()));
}

TEST(CertifiedSolve, GivesUpWhatIsRefutedForGood) {
  const Solved solved = solve("cg", 1, 1e-10, 1e20);
  EXPECT_FALSE(solved.result.is_proved);
  EXPECT_EQ(solved.result.last.stop, Stop::converged);
}

}  // namespace
}  // namespace ayatori::solvers
