#include <gtest/gtest.h>

#include <cmath>

#include "linear_system.hpp"

// What one method must do and no other: breakdowns by name, restarts, changing preconditioners.

namespace ayatori::solvers {
namespace {

using tests::Dense;
using tests::indefinite;
using tests::random_vector;
using tests::Trial;

Dense skew_symmetric(std::int64_t n) {
  Dense a(n);
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    a.at(i, i + 1) = 1.0 + static_cast<double>(i % 3);
    a.at(i + 1, i) = -a.at(i, i + 1);
  }
  return a;
}

TEST(Cg, NamesWhatIsNotDefinite) {
  Trial matrix{.a = indefinite(20), .b = random_vector(20, 3)};
  matrix.run("cg", 1e-10);
  EXPECT_EQ(matrix.result.stop, Stop::breakdown);
  EXPECT_NE(matrix.result.reason.find("matrix is not positive definite: p^T A p = -"), std::string::npos)
      << matrix.result.reason;
  EXPECT_LE(matrix.true_residual(), matrix.b_norm() * (1 + 1e-12));

  for (const char* name : {"cg", "minres"}) {
    Trial preconditioner{.a = tests::laplacian_1d(20)};
    for (double& value : preconditioner.m.value) value = -value;
    preconditioner.run(name, 1e-10);
    EXPECT_EQ(preconditioner.result.stop, Stop::breakdown);
    EXPECT_NE(preconditioner.result.reason.find("preconditioner is not positive definite"),
              std::string::npos);
  }
}

TEST(Minres, ReportsTheTwoNormUnderAStrongPreconditioner) {
  Trial trial{.a = indefinite(40), .b = random_vector(40, 9)};
  for (std::int64_t i = 0; i < 40; ++i) trial.m.at(i, i) = std::pow(10.0, static_cast<double>(i % 7) - 3);
  trial.run("minres", 1e-6);
  EXPECT_EQ(trial.result.stop, Stop::converged) << trial.describe();
  EXPECT_LE(trial.true_residual(), 1.01e-6 * trial.b_norm());
}

TEST(Minres, NamesASingularMatrix) {
  Dense a = tests::identity(4);
  a.at(2, 2) = 0;
  Trial trial{.a = a};
  trial.run("minres", 1e-10);
  EXPECT_EQ(trial.result.stop, Stop::breakdown) << trial.describe();
  EXPECT_NE(trial.result.reason.find("singular"), std::string::npos) << trial.result.reason;
  EXPECT_TRUE(std::isfinite(Trial::norm_of(trial.x)));
}

TEST(Bicgstab, NamesOmegaOnASkewSymmetricMatrix) {
  Trial trial{.a = skew_symmetric(40), .b = random_vector(40, 13)};
  trial.run("bicgstab", 1e-12);
  EXPECT_EQ(trial.result.stop, Stop::breakdown) << trial.describe();
  EXPECT_NE(trial.result.reason.find("omega"), std::string::npos) << trial.result.reason;
  EXPECT_LE(trial.true_residual(), trial.b_norm());
}

TEST(Bicgstab, SurvivesAVanishingShadowProduct) {
  // (r*, A r) = 0 in the first step, but the matrix is not skew-symmetric.
  Dense a(3);
  a.at(0, 1) = 1;
  a.at(1, 0) = 2;
  a.at(2, 2) = 3;
  Trial trial{.a = a, .b = {1, 0, 0}};
  trial.run("bicgstab", 1e-10);
  EXPECT_TRUE(trial.result.stop == Stop::converged || trial.result.reason.find("omega") != std::string::npos)
      << trial.describe();
  EXPECT_LE(trial.true_residual(), trial.b_norm());
}

/// Classical Gram-Schmidt stalls where the residual of a cycle has shrunk to the square root of the
/// precision.
TEST(Gmres, EndsACycleThatHasLostOrthogonality) {
  for (const char* name : {"gmres", "fgmres"}) {
    Trial trial{.comm = comm::Comm::self(), .a = tests::identity(200), .b = random_vector(200, 3)};
    trial.partition = sparse::RowPartition::even(200, 1);
    // Eigenvalues from 1 to 100, in a basis that is far from orthogonal.
    for (std::int64_t i = 0; i < 200; ++i) {
      trial.a.at(i, i) = std::pow(100.0, static_cast<double>(i) / 199);
      if (i + 1 < 200) trial.a.at(i, i + 1) = 0.3 * trial.a.at(i, i);
    }
    trial.options.restart = 200;
    trial.options.max_iterations = 600;
    Trial stable = trial;
    stable.run(name, 1e-10);
    trial.orthogonalization = "cgs";
    trial.run(name, 1e-10);
    SCOPED_TRACE(trial.describe() + "; " + stable.describe());
    EXPECT_EQ(stable.result.stop, Stop::converged);
    EXPECT_EQ(trial.result.stop, Stop::converged);
    EXPECT_LE(trial.result.iterations,
              2 * stable.result.iterations);  // without looking 2.1; rounding decides
  }
}

TEST(Gmres, GrowsWhenToldTo) {
  for (const char* name : {"gmres", "fgmres", "pipelined-gmres"}) {
    Trial trial{.a = tests::cyclic_shift(24), .b = random_vector(24, 3)};
    std::vector<int> lengths;
    trial.options.restart = 5;
    trial.options.next_cycle = [&](Cycle& cycle) {
      lengths.push_back(cycle.length);
      EXPECT_LE(cycle.after, cycle.before * (1 + 1e-12));
      cycle.restart *= 2;
    };
    trial.run(name, 1e-10);
    EXPECT_EQ(trial.result.stop, Stop::converged) << trial.describe();
    EXPECT_EQ(lengths, (std::vector<int>{5, 10, 20})) << name;
    EXPECT_LE(trial.true_residual(), 1e-9 * trial.b_norm());
  }
}

TEST(Gmres, ChangesTheOrthogonalizationBetweenCycles) {
  for (const char* name : {"gmres", "pipelined-gmres"}) {
    Trial trial{.a = tests::laplacian_2d(8)};
    int calls = 0;
    const Orthogonalize counted = [&](const GlobalSum& sum, const Basis& basis, Vector w,
                                      std::span<double> h) {
      ++calls;
      return orthogonalization("mgs").apply(sum, basis, w, h);
    };
    trial.options.restart = 6;
    trial.options.next_cycle = [&](Cycle& cycle) { cycle.orthogonalize = &counted; };
    trial.run(name, 1e-10);
    EXPECT_EQ(trial.result.stop, Stop::converged) << trial.describe();
    EXPECT_EQ(calls, trial.result.iterations - 6);
  }
}

TEST(Gmres, IsExactAfterAsManyStepsAsUnknowns) {
  for (const char* name : {"gmres", "fgmres"}) {
    for (const char* orthogonalization : {"mgs", "ircgs"}) {
      Trial trial{.a = tests::cyclic_shift(24), .orthogonalization = orthogonalization};
      trial.b.assign(24, 0.0);
      trial.b[0] = 1;
      trial.options.restart = 1000;
      trial.run(name, 1e-14);
      EXPECT_EQ(trial.result.stop, Stop::converged) << trial.describe();
      EXPECT_EQ(trial.result.iterations, 24);
      EXPECT_LE(trial.true_residual(), 1e-14);
    }
  }
}

TEST(Gmres, NoticesThatARestartCannotHelp) {
  Trial trial{.a = tests::cyclic_shift(24)};
  trial.b.assign(24, 0.0);
  trial.b[0] = 1;
  trial.options.restart = 10;
  trial.run("gmres", 1e-10);
  EXPECT_EQ(trial.result.stop, Stop::stagnated) << trial.describe();
  EXPECT_EQ(trial.result.iterations, 10);

  trial.options.stagnation_window = 35;
  trial.run("fgmres", 1e-10);
  EXPECT_EQ(trial.result.stop, Stop::stagnated) << trial.describe();
  EXPECT_EQ(trial.result.iterations, 35);
}

TEST(Gmres, RestartsUntilItConverges) {
  for (const char* name : {"gmres", "fgmres", "pipelined-gmres"}) {
    Trial trial{.a = tests::laplacian_2d(8), .b = random_vector(64, 4)};
    trial.options.restart = 5;
    trial.run(name, 1e-10);
    EXPECT_EQ(trial.result.stop, Stop::converged) << trial.describe();
    EXPECT_GT(trial.result.iterations, 20);
    EXPECT_LE(trial.true_residual(), 1.01e-10 * trial.b_norm());
  }
}

TEST(Gmres, EndOfTheKrylovSpaceIsConvergence) {
  Trial trial{.a = tests::identity(30)};  // the space has one dimension
  trial.run("gmres", 1e-14);
  EXPECT_EQ(trial.result.stop, Stop::converged) << trial.describe();
  EXPECT_EQ(trial.result.iterations, 1);
  EXPECT_LE(trial.true_residual(), 1e-14 * trial.b_norm());
}

TEST(Gmres, NamesASingularMatrix) {
  Dense nilpotent(3);
  nilpotent.at(0, 1) = 1;
  Trial trial{.a = nilpotent, .b = {0, 0, 1}};
  trial.run("gmres", 1e-10);
  EXPECT_EQ(trial.result.stop, Stop::breakdown) << trial.describe();
  EXPECT_NE(trial.result.reason.find("singular"), std::string::npos) << trial.result.reason;
  EXPECT_EQ(trial.x, trial.x0);
}

/// Another diagonal in every application.
class Changing final : public sparse::LinearOperator {
 public:
  explicit Changing(std::int32_t n) : n_(n) {}
  void apply(std::span<const double> x, std::span<double> y) const override {
    ++calls_;
    for (std::int32_t i = 0; i < n_; ++i) y[i] = x[i] * (1 + random_uniform(calls_, i));
  }
  std::int32_t local_size() const override { return n_; }

 private:
  std::int32_t n_;
  mutable std::uint64_t calls_ = 0;
};

TEST(Fgmres, BearsAChangingPreconditioner) {
  const comm::Comm world = comm::Comm::world();
  const auto partition = sparse::RowPartition::even(64, world.size());
  const tests::DenseOperator a(world, tests::laplacian_2d(8), partition);
  const Changing m(a.local_size());
  const GlobalSum sum(world);
  const std::vector<double> b(a.local_size(), 1.0);
  std::vector<double> x(a.local_size(), 0.0);
  const MethodOptions options{.target = 1e-8, .restart = 80};
  const auto result =
      method("fgmres").solve({a, m, b, sum}, x, options, orthogonalization("ircgs").apply, {});
  EXPECT_EQ(result.stop, Stop::converged);
  std::vector<double> r(b.size());
  a.apply(x, r);
  subtract(b, r, r);
  EXPECT_LE(norm(sum, r), 1.01e-8);
}

}  // namespace
}  // namespace ayatori::solvers
