#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ayatori/base/error.hpp"
#include "linear_system.hpp"

namespace ayatori::solvers {
namespace {

using tests::Dense;
using tests::Trial;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> random_vector(std::int64_t n, std::uint64_t seed) {
  std::vector<double> v(n);
  for (std::int64_t i = 0; i < n; ++i) v[i] = 2 * random_uniform(seed, i) - 1;
  return v;
}

/// Symmetric with eigenvalues of both signs.
Dense indefinite(std::int64_t n) {
  Dense a = tests::random_dominant(n, 0.2, 1.2, 5, true);
  for (std::int64_t i = 0; i < n; i += 3) a.at(i, i) = -a.at(i, i);
  return a;
}

Dense skew_symmetric(std::int64_t n) {
  Dense a(n);
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    a.at(i, i + 1) = 1.0 + static_cast<double>(i % 3);
    a.at(i + 1, i) = -a.at(i, i + 1);
  }
  return a;
}

/// A matrix that the method is made for.
Dense suitable(const Method& method, std::int64_t n) {
  if (method.needs_definite) return tests::random_definite(n, 0.3, 3);
  return method.needs_symmetric ? indefinite(n) : tests::random_dominant(n, 0.3, 0.9, 7, false);
}

/// The absolute inverse diagonal: positive definite for every matrix here.
Dense positive_diagonal(const Dense& a) {
  Dense m = tests::diagonal_inverse(a);
  for (double& value : m.value) value = std::abs(value);
  return m;
}

void expect_near(const std::vector<double>& x, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(x.size(), expected.size());
  const double scale = Trial::norm_of(expected);
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(x[i], expected[i], tolerance * scale) << "element " << i;
}

TEST(Methods, SolveWhatLapackSolves) {
  for (const Method& method : methods()) {
    for (const std::int64_t n : {1, 2, 7, 60}) {
      for (const bool preconditioned : {false, true}) {
        const Dense a = suitable(method, n);
        Trial trial{.a = a, .b = random_vector(n, 11)};
        if (preconditioned) trial.m = positive_diagonal(a);
        trial.options.restart = 60;
        trial.run(method.name, 1e-10);
        SCOPED_TRACE(
            fmt::format("{} n={} preconditioned={}: {}", method.name, n, preconditioned, trial.describe()));
        EXPECT_EQ(trial.result.stop, Stop::converged);
        EXPECT_LE(trial.true_residual(), 2e-10 * trial.b_norm());
        EXPECT_NEAR(trial.result.residual_norm, trial.true_residual(), 1e-10 * trial.b_norm());
        expect_near(trial.x, tests::direct_solution(a, trial.b), 1e-6);
      }
    }
  }
}

TEST(Methods, RanksWithoutRows) {
  const int ranks = comm::Comm::world().size();
  std::vector<std::int64_t> starts(ranks + 1, 0);
  starts[ranks] = 30;
  for (const Method& method : methods()) {
    Trial trial{.a = suitable(method, 30), .partition = sparse::RowPartition(starts)};
    trial.run(method.name, 1e-9);
    EXPECT_EQ(trial.result.stop, Stop::converged) << method.name << " " << trial.describe();
    EXPECT_LE(trial.true_residual(), 2e-9 * trial.b_norm());
  }
}

TEST(Methods, IterationsDoNotDependOnRanks) {
  const comm::Comm world = comm::Comm::world();
  for (const Method& method : methods()) {
    const Dense a = tests::laplacian_2d(8);
    Trial together{.a = a, .b = random_vector(64, 2)};
    together.run(method.name, 1e-8);
    Trial alone{.comm = comm::Comm::self(), .a = a, .b = random_vector(64, 2)};
    alone.partition = sparse::RowPartition::even(64, 1);
    alone.run(method.name, 1e-8);
    EXPECT_NEAR(together.result.iterations, alone.result.iterations, 2) << method.name;
  }
}

TEST(Methods, ZeroRightHandSideAndSolvedGuess) {
  for (const Method& method : methods()) {
    Trial zero{.a = suitable(method, 20)};
    zero.b.assign(20, 0.0);
    zero.run(method.name);
    EXPECT_EQ(zero.result.stop, Stop::converged) << method.name;
    EXPECT_EQ(zero.result.iterations, 0);
    EXPECT_EQ(Trial::norm_of(zero.x), 0);

    Trial solved{.a = suitable(method, 20)};
    solved.x0 = tests::direct_solution(solved.a, solved.b);
    solved.run(method.name, 1e-10);
    EXPECT_EQ(solved.result.stop, Stop::converged) << method.name;
    EXPECT_EQ(solved.result.iterations, 0);
    EXPECT_EQ(solved.x, solved.x0);
  }
}

TEST(Methods, StartFromANonzeroGuess) {
  for (const Method& method : methods()) {
    Trial trial{.a = suitable(method, 40), .x0 = random_vector(40, 17)};
    trial.options.restart = 40;
    trial.run(method.name, 1e-9);
    EXPECT_EQ(trial.result.stop, Stop::converged) << method.name << " " << trial.describe();
    EXPECT_LE(trial.true_residual(), 2e-9 * trial.b_norm());
  }
}

TEST(Methods, ExtremeScales) {
  for (const Method& method : methods()) {
    for (const double matrix_scale : {1e-78, 1.0, 1e28}) {
      for (const double vector_scale : {1e-190, 1e-78, 1e28, 1e190}) {
        Trial trial{.a = suitable(method, 20), .b = random_vector(20, 23)};
        for (double& value : trial.a.value) value *= matrix_scale;
        for (double& value : trial.b) value *= vector_scale;
        trial.run(method.name, 1e-9);
        SCOPED_TRACE(fmt::format("{} {} {}: {}", method.name, matrix_scale, vector_scale, trial.describe()));
        EXPECT_EQ(trial.result.stop, Stop::converged);
        EXPECT_LE(trial.true_residual(), 2e-9 * trial.b_norm());
      }
    }
  }
}

TEST(Methods, ANanIsNamedAndLeavesXFinite) {
  for (const Method& method : methods()) {
    Trial matrix{.a = suitable(method, 20), .x0 = std::vector<double>(20, 0.5)};
    matrix.a.at(19, 3) = nan;
    matrix.run(method.name, 1e-9);
    EXPECT_EQ(matrix.result.stop, Stop::breakdown) << method.name;
    EXPECT_NE(matrix.result.reason.find("not finite"), std::string::npos) << matrix.result.reason;
    EXPECT_EQ(matrix.x, matrix.x0);

    Trial preconditioner{.a = suitable(method, 20)};
    preconditioner.m.at(3, 19) = nan;
    preconditioner.run(method.name, 1e-9);
    EXPECT_EQ(preconditioner.result.stop, Stop::breakdown) << method.name;
    EXPECT_TRUE(std::isfinite(Trial::norm_of(preconditioner.x)));
    EXPECT_EQ(preconditioner.x, preconditioner.x0);
  }
}

TEST(Methods, OneRankStopsAll) {
  const comm::Comm world = comm::Comm::world();
  for (const Method& method : methods()) {
    int polled = 0;
    Trial trial{.a = suitable(method, 60)};
    trial.wants_stop = [&] { return ++polled > 12 && world.rank() == world.size() - 1; };
    trial.run(method.name);
    EXPECT_EQ(trial.result.stop, Stop::interrupted) << method.name << " " << trial.describe();
    EXPECT_GT(trial.result.iterations, 0);
    EXPECT_LT(trial.result.iterations, 30);
    EXPECT_LT(trial.true_residual(), trial.b_norm()) << "x is the best so far";
  }
}

TEST(Methods, IterationLimitAndProgress) {
  for (const Method& method : methods()) {
    std::vector<int> told;
    double last = 0;
    Trial trial{.a = tests::laplacian_1d(50)};
    trial.progress = [&](int iteration, double norm) {
      told.push_back(iteration);
      last = norm;
    };
    trial.options.max_iterations = 10;
    trial.run(method.name, 1e-12);
    EXPECT_EQ(trial.result.stop, Stop::max_iterations) << method.name << trial.describe();
    EXPECT_EQ(trial.result.iterations, 10);
    EXPECT_EQ(told.back(), 10);
    EXPECT_GE(last, trial.result.residual_norm);
    EXPECT_LE(trial.products, 12) << "beside the iterations, at most the residual at start and restart";
  }
}

TEST(Methods, XIsTheBestOfAnErraticMethod) {
  for (const char* name : {"cg", "bicgstab", "minres"}) {
    for (int limit = 2; limit <= 40; limit += 2) {
      double least = 0;
      Trial trial{.a = tests::laplacian_1d(60), .b = random_vector(60, 31)};
      for (std::int64_t i = 0; i < 60; ++i) trial.m.at(i, i) = 1 + static_cast<double>(i % 7);
      least = trial.b_norm();
      trial.progress = [&](int, double norm) { least = std::min(least, norm); };
      trial.options.max_iterations = limit;
      trial.run(name, 1e-12);
      EXPECT_LE(trial.true_residual(), least * (1 + 1e-8)) << name << " " << limit;
      EXPECT_NEAR(trial.result.residual_norm, least, 1e-8 * least);
    }
  }
}

TEST(Methods, Reductions) {
  const auto per_iteration = [](const Trial& trial) {
    return static_cast<double>(trial.reductions - 3) / trial.result.iterations;
  };
  Trial cg{.a = tests::laplacian_2d(8)};
  EXPECT_LE(per_iteration(cg.run("cg", 1e-10)), 2);
  Trial minres{.a = tests::laplacian_2d(8)};
  EXPECT_LE(per_iteration(minres.run("minres", 1e-10)), 2);
  Trial bicgstab{.a = tests::laplacian_2d(8)};
  EXPECT_LE(per_iteration(bicgstab.run("bicgstab", 1e-10)), 1.5) << "three in a step of two products";
  for (const char* name : {"cgs", "ircgs"}) {
    Trial gmres{.a = tests::laplacian_2d(8), .orthogonalization = name};
    EXPECT_LE(per_iteration(gmres.run("gmres", 1e-10)), 2) << name;
  }
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
  for (const char* name : {"gmres", "fgmres"}) {
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

TEST(Methods, NamesAreListedWhenUnknown) {
  try {
    method("gauss");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("cg, minres, bicgstab, gmres, fgmres"), std::string::npos);
  }
  EXPECT_THROW(orthogonalization("householder"), InputError);
}

}  // namespace
}  // namespace ayatori::solvers
