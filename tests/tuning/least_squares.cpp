#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ayatori/base/error.hpp"
#include "solved.hpp"

// Singular systems whose null vectors no row sums tell: what is made of them, with b in range and not.

namespace ayatori::tuning {
namespace {

using sparse::Entry;

/// Rows of a rectangular matrix.
struct Rectangular {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Entry> entries;
};

/// B^T C, of n x n for B and C of m x n.
TestMatrix product_of(std::string name, const Rectangular& b, const Rectangular& c) {
  std::vector<std::vector<Entry>> rows(c.rows);
  for (const Entry& e : c.entries) rows[e.row].push_back(e);
  TestMatrix matrix{std::move(name), b.columns, {}};
  for (const Entry& e : b.entries)
    for (const Entry& f : rows[e.row]) matrix.entries.push_back({e.column, f.column, e.value * f.value});
  return matrix;
}

/// curl^T curl on the edges of n^3 cubes: gradients are null vectors.
TestMatrix curl_curl_matrix(std::int64_t n) {
  const std::int64_t nodes = n + 1;
  const std::int64_t of_direction = n * nodes * nodes;
  const auto edge = [&](int direction, std::int64_t i, std::int64_t j, std::int64_t k) {
    const std::int64_t length[3] = {direction == 0 ? n : nodes, direction == 1 ? n : nodes, 0};
    return direction * of_direction + i + length[0] * (j + length[1] * k);
  };
  Rectangular curl{0, 3 * of_direction, {}};
  const auto face = [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    curl.entries.push_back({curl.rows, a, 1});
    curl.entries.push_back({curl.rows, b, 1});
    curl.entries.push_back({curl.rows, c, -1});
    curl.entries.push_back({curl.rows++, d, -1});
  };
  for (std::int64_t k = 0; k < nodes; ++k)
    for (std::int64_t j = 0; j < nodes; ++j)
      for (std::int64_t i = 0; i < nodes; ++i) {
        if (i < n && j < n)
          face(edge(0, i, j, k), edge(1, i + 1, j, k), edge(0, i, j + 1, k), edge(1, i, j, k));
        if (i < n && k < n)
          face(edge(0, i, j, k), edge(2, i + 1, j, k), edge(0, i, j, k + 1), edge(2, i, j, k));
        if (j < n && k < n)
          face(edge(1, i, j, k), edge(2, i, j + 1, k), edge(1, i, j, k + 1), edge(2, i, j, k));
      }
  return product_of("curl-curl", curl, curl);
}

/// I - D^-1/2 W D^-1/2 of a connected graph at random: the roots of the degrees are the null vector.
TestMatrix normalized_laplacian(std::int64_t n) {
  std::vector<std::vector<std::int64_t>> neighbours(n);
  const auto connect = [&](std::int64_t i, std::int64_t j) {
    if (i == j || std::ranges::find(neighbours[i], j) != neighbours[i].end()) return;
    neighbours[i].push_back(j);
    neighbours[j].push_back(i);
  };
  for (std::int64_t i = 0; i + 1 < n; ++i) connect(i, i + 1);
  for (std::uint64_t k = 0; k < 2 * static_cast<std::uint64_t>(n); ++k)
    connect(static_cast<std::int64_t>(random_bits(5, 2 * k) % n),
            static_cast<std::int64_t>(random_bits(5, 2 * k + 1) % n));
  TestMatrix matrix{"normalized Laplacian", n, {}};
  const auto degree = [&](std::int64_t i) { return static_cast<double>(neighbours[i].size()); };
  for (std::int64_t i = 0; i < n; ++i) {
    matrix.entries.push_back({i, i, 1});
    for (const std::int64_t j : neighbours[i])
      matrix.entries.push_back({i, j, -1 / std::sqrt(degree(i) * degree(j))});
  }
  return matrix;
}

/// Stokes flow in a closed square of n x n cells: pressures are fixed but for a constant.
TestMatrix stokes_matrix(std::int64_t n) {
  const std::int64_t of_u = (n - 1) * n;
  const std::int64_t velocities = 2 * of_u;
  TestMatrix matrix{"Stokes", velocities + n * n, {}};
  const auto couple = [&](std::int64_t i, std::int64_t j, double value) {
    matrix.entries.push_back({i, j, value});
  };
  const auto u = [&](std::int64_t i, std::int64_t j) { return i + (n - 1) * j; };
  const auto v = [&](std::int64_t i, std::int64_t j) { return of_u + i + n * j; };
  const auto p = [&](std::int64_t i, std::int64_t j) { return velocities + i + n * j; };
  const auto add_velocities = [&](auto&& number, std::int64_t width, std::int64_t height, bool is_u) {
    for (std::int64_t j = 0; j < height; ++j)
      for (std::int64_t i = 0; i < width; ++i) {
        const std::int64_t across = is_u ? j : i;
        const double wall = across == 0 || across == n - 1 ? 1 : 0;
        couple(number(i, j), number(i, j), 4 + wall);
        if (i > 0) couple(number(i, j), number(i - 1, j), -1);
        if (i + 1 < width) couple(number(i, j), number(i + 1, j), -1);
        if (j > 0) couple(number(i, j), number(i, j - 1), -1);
        if (j + 1 < height) couple(number(i, j), number(i, j + 1), -1);
      }
  };
  add_velocities(u, n - 1, n, true);
  add_velocities(v, n, n - 1, false);
  const auto divergence = [&](std::int64_t pressure, std::int64_t velocity, double value) {
    couple(pressure, velocity, value);
    couple(velocity, pressure, value);
  };
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      if (i < n - 1) divergence(p(i, j), u(i, j), -1);
      if (i > 0) divergence(p(i, j), u(i - 1, j), 1);
      if (j < n - 1) divergence(p(i, j), v(i, j), -1);
      if (j > 0) divergence(p(i, j), v(i, j - 1), 1);
    }
  return matrix;
}

/// B^T C of B and C with fewer rows than columns, at random: unsymmetric, its rank that of B.
TestMatrix low_rank_matrix(std::int64_t n, std::int64_t rank) {
  const auto factor = [&](std::uint64_t seed) {
    Rectangular f{rank, n, {}};
    for (std::int64_t i = 0; i < rank; ++i) {
      f.entries.push_back({i, i, 2});
      for (std::int64_t k = 0; k < 3; ++k)
        f.entries.push_back({i, static_cast<std::int64_t>(random_bits(seed, 3 * i + k) % n),
                             sparse::test_value(seed + 1, 3 * i + k)});
    }
    return f;
  };
  return product_of("unsymmetric of low rank", factor(21), factor(23));
}

std::vector<double> multiply_transposed(const TestMatrix& matrix, const std::vector<double>& x) {
  std::vector<double> y(matrix.n, 0.0);
  for (const Entry& e : matrix.entries) y[e.column] += e.value * x[e.row];
  return y;
}

double norm_of(const std::vector<double>& v) {
  double largest = 0;
  for (const double value : v) largest = std::max(largest, std::abs(value));
  double square = 0;
  for (const double value : v) square += largest > 0 ? (value / largest) * (value / largest) : 0;
  return largest * std::sqrt(square);
}

struct SolvedFor {
  std::vector<double> b;  ///< global
  std::vector<double> x;  ///< global
  std::vector<double> r;  ///< b - A x, by code of the test's own
  SolveReport report;

  SolvedFor(const TestMatrix& matrix, std::vector<double> right_side, const SolveOptions& options = {})
      : b(std::move(right_side)) {
    const auto parts =
        std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())));
    const auto own = sparse::piece(b, parts->partition.range(world().rank()));
    Array<double> own_x(own.size(), 0.0);
    report = solve(world(), parts, own, own_x, options);
    x = world().allgatherv(std::span<const double>(own_x)).values;
    r = matrix.multiply(x);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  }
};

double norm_of_matrix(const TestMatrix& matrix) {  // no less than the 2-norm, and seldom much more
  std::vector<double> rows(matrix.n, 0.0);
  std::vector<double> columns(matrix.n, 0.0);
  for (const Entry& e : matrix.entries) {
    rows[e.row] += std::abs(e.value);
    columns[e.column] += std::abs(e.value);
  }
  return std::sqrt(*std::ranges::max_element(rows) * *std::ranges::max_element(columns));
}

struct SingularCase {
  TestMatrix matrix;
  double most_of_x;  ///< ||A|| ||x|| / ||b|| of the least-squares solution is below
};

std::vector<SingularCase> singular_cases() {
  return {{curl_curl_matrix(4), 1e3},
          {normalized_laplacian(300), 1e3},
          {stokes_matrix(10), 1e4},
          {low_rank_matrix(150, 110), 1e4}};
}

TEST(LeastSquaresArm, InconsistentSystemsEndWithAVerifiedLeastSquaresSolutionOfSmallNorm) {
  for (const auto& [matrix, most_of_x] : singular_cases()) {
    for (const double scale : {1.0, 1e-120}) {
      SCOPED_TRACE(fmt::format("{} times {}", matrix.name, scale));
      auto b = sparse::test_vector(matrix.n, 31);
      for (double& value : b) value *= scale;
      const SolvedFor solved(matrix, b);
      SCOPED_TRACE(words_of(solved.report));
      const double a = norm_of_matrix(matrix);
      EXPECT_EQ(solved.report.status, Status::least_squares);
      EXPECT_FALSE(solved.report.converged());
      EXPECT_GT(solved.report.relative_residual, 1e-3);
      EXPECT_NEAR(norm_of(solved.r) / norm_of(b) / solved.report.relative_residual, 1, 1e-9);
      EXPECT_LE(norm_of(multiply_transposed(matrix, solved.r)), 1e-11 * a * norm_of(solved.r));
      EXPECT_LE(a * norm_of(solved.x), most_of_x * norm_of(b));
      EXPECT_LE(solved.report.iterations, 20000);
    }
  }
}

TEST(LeastSquaresArm, ConsistentSystemsAreSolved) {
  for (const auto& [matrix, most_of_x] : singular_cases()) {
    SCOPED_TRACE(matrix.name);
    const auto b = matrix.multiply(sparse::test_vector(matrix.n, 32));
    const SolvedFor solved(matrix, b);
    SCOPED_TRACE(words_of(solved.report));
    EXPECT_EQ(solved.report.status, Status::converged);
    EXPECT_LE(norm_of(solved.r), 1.001e-8 * norm_of(b));
  }
}

/// Two columns too few for three rows.
TestMatrix crowded_matrix() {
  auto matrix = sparse::random_matrix(40, 5, 6);
  std::erase_if(matrix.entries, [](const Entry& e) { return e.row == 11 || e.row == 12 || e.row == 25; });
  for (const std::int64_t i : {11, 12, 25}) {
    matrix.entries.push_back({i, 4, 1.0 + static_cast<double>(i)});
    matrix.entries.push_back({i, 30, 2});
  }
  return matrix;
}

TEST(LeastSquaresArm, ComesFirstWhereTheStructureSaysThatTheMatrixIsSingular) {
  const auto matrix = crowded_matrix();
  const std::string finding =
      "row 12 of the matrix and 2 more have entries in 2 columns only: whatever its values, its rank is at "
      "most "
      "39 of 40";
  for (const bool consistent : {true, false}) {
    auto b = sparse::test_vector(matrix.n, 33);
    if (consistent) b = matrix.multiply(b);
    const SolvedFor solved(matrix, b);
    SCOPED_TRACE(words_of(solved.report));
    EXPECT_EQ(solved.report.status, consistent ? Status::converged : Status::least_squares);
    ASSERT_EQ(solved.report.trials.size(), 1);
    EXPECT_EQ(solved.report.trials.front().choice.method, "lsmr");
    EXPECT_EQ(solved.report.choice.method, "lsmr");
    EXPECT_EQ(solved.report.structure.structural.rank, 39);
    EXPECT_TRUE(std::ranges::any_of(solved.report.events, [&](const Event& e) { return e.text == finding; }));
  }
}

/// Blocks of three rows, one of which has the sum of the others as its third: of full rank as far as patterns
/// and pairs of rows tell.
TestMatrix matrix_with_singular_block(std::int64_t blocks) {
  TestMatrix matrix{"singular block", 3 * blocks, {}};
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t first = 3 * block;
    double rows[3][3] = {{0, 1, 2}, {3, 0, 1}, {1, 2, 0}};
    if (block == blocks / 2)
      for (int j = 0; j < 3; ++j) rows[2][j] = rows[0][j] + rows[1][j];
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 3; ++j) matrix.entries.push_back({first + i, first + j, rows[i][j]});
  }
  return matrix;
}

TEST(LeastSquaresArm, ComesAfterCompleteFactorsWithZeroPivots) {
  if (!has_complete_factors()) GTEST_SKIP() << "built without complete factors";
  // Enough rows that without a sign of singularity few iterations are no reason to turn to LSMR.
  const auto matrix = matrix_with_singular_block(7000);
  SolveOptions options;
  options.experience.best = Choice{"gmres", "direct", 30, "cgs", "", ""};
  options.forced.excluded = {"bicgstab", "block-ilu0", "block-jacobi", "neumann", "amg"};  // slow challengers
  for (const bool consistent : {true, false}) {
    auto b = sparse::test_vector(matrix.n, 37);
    if (consistent) b = matrix.multiply(b);
    const SolvedFor solved(matrix, b, options);
    SCOPED_TRACE(words_of(solved.report));
    EXPECT_EQ(solved.report.trials.front().choice.preconditioner, "direct");
    EXPECT_EQ(solved.report.status, consistent ? Status::converged : Status::least_squares);
    if (consistent) continue;
    EXPECT_EQ(std::ranges::count(solved.report.events, "escalation", &Event::kind), 1);
    EXPECT_EQ(solved.report.trials.back().choice.method, "lsmr");
    EXPECT_EQ(solved.report.trials.back().why, "the matrix is singular: complete factors have zero pivots");
  }
}

TEST(LeastSquaresArm, AForcedMethodIsObeyed) {
  const auto matrix = crowded_matrix();
  SolveOptions options;
  options.forced.method = "gmres";
  options.max_iterations = 500;
  const SolvedFor solved(matrix, sparse::test_vector(matrix.n, 33), options);
  for (const Trial& trial : solved.report.trials) EXPECT_EQ(trial.choice.method, "gmres");
  EXPECT_FALSE(solved.report.converged());
}

TEST(LeastSquaresArm, CanBeForcedAndExcluded) {
  for (const bool consistent : {true, false}) {
    const auto matrix = normalized_laplacian(300);
    auto b = sparse::test_vector(matrix.n, 38);
    if (consistent) b = matrix.multiply(b);
    SolveOptions options;
    options.forced.method = "lsmr";
    const SolvedFor solved(matrix, b, options);
    SCOPED_TRACE(words_of(solved.report));
    EXPECT_EQ(solved.report.status, consistent ? Status::converged : Status::least_squares);
    ASSERT_EQ(solved.report.trials.size(), 1);
    EXPECT_EQ(solved.report.trials.front().choice.method, "lsmr");
    // The script of it has but this one.
    SolveOptions again;
    again.replay = std::make_shared<Script>(solved.report.script);
    EXPECT_EQ(SolvedFor(matrix, b, again).x, solved.x);
  }
  const auto matrix = crowded_matrix();
  SolveOptions options;
  options.forced.excluded = {"lsmr"};
  options.max_iterations = 500;
  const SolvedFor solved(matrix, sparse::test_vector(matrix.n, 33), options);
  for (const Trial& trial : solved.report.trials) EXPECT_NE(trial.choice.method, "lsmr");
}

TEST(LeastSquaresArm, IsSolvedFromTheGuess) {
  const auto matrix = stokes_matrix(8);
  const auto parts =
      std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())));
  const auto own = sparse::piece(matrix.multiply(sparse::test_vector(matrix.n, 39)),
                                 parts->partition.range(world().rank()));
  SolveOptions options;
  options.forced.method = "lsmr";
  options.rtol = 1e-6;
  Array<double> x(own.size(), 0.0);
  const auto first = solve(world(), parts, own, x, options);
  options.rtol = 1e-8;
  const auto next = solve(world(), parts, own, x, options);
  EXPECT_TRUE(first.converged() && next.converged());
  EXPECT_LT(next.iterations, first.iterations);
}

TEST(LeastSquaresArm, TellsSnapshotsOfWhatItHasReached) {
  const auto matrix = stokes_matrix(8);
  const auto parts =
      std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())));
  const auto b = matrix.multiply(sparse::test_vector(matrix.n, 40));
  const auto own = sparse::piece(b, parts->partition.range(world().rank()));
  SolveOptions options;
  options.forced.method = "lsmr";
  SolveHooks hooks;
  std::vector<double> residuals;
  hooks.snapshot = [&](const Snapshot& snapshot) {
    const auto all = world().allgatherv(snapshot.x).values;
    auto r = matrix.multiply(all);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
    EXPECT_NEAR(snapshot.relative_residual, norm_of(r) / norm_of(b), 1e-12);
    residuals.push_back(snapshot.relative_residual);
  };
  hooks.seconds_between_snapshots = 0;
  Array<double> x(own.size(), 0.0);
  EXPECT_TRUE(solve(world(), parts, own, x, options, hooks).converged());
  EXPECT_GT(residuals.size(), 10);
  EXPECT_TRUE(std::ranges::is_sorted(residuals, std::greater<>()));
  EXPECT_LT(residuals.back(), 1e-4);
}

TEST(LeastSquaresArm, RegularSystemsAreNotCalledInconsistent) {
  // Condition numbers up to 1e10, where A^T r is small long before r is.
  for (const double least : {1e-4, 1e-7, 1e-10}) {
    SCOPED_TRACE(least);
    auto matrix = sparse::random_matrix(60, 4, 8);
    for (Entry& e : matrix.entries)
      if (e.column >= 40) e.value *= least;
    const SolvedFor solved(matrix, sparse::test_vector(matrix.n, 34));
    SCOPED_TRACE(words_of(solved.report));
    EXPECT_EQ(solved.report.status, Status::converged);
  }
}

TEST(LeastSquaresArm, TheNextSolveBeginsWithWhatEndedTheOneBefore) {
  const auto matrix = normalized_laplacian(300);
  const auto parts =
      std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())));
  const auto own = sparse::piece(sparse::test_vector(matrix.n, 35), parts->partition.range(world().rank()));
  ReusableSetup kept;
  for (const std::size_t trials : {0, 1}) {
    Array<double> x(own.size(), 0.0);
    const auto report = solve(world(), parts, own, x, {}, {}, &kept);
    EXPECT_EQ(report.status, Status::least_squares);
    if (trials > 0) {
      EXPECT_EQ(report.trials.size(), trials) << words_of(report);
    }
  }
}

TEST(LeastSquaresArm, MatricesThatAreNotFiniteAreRefused) {
  auto matrix = sparse::tridiagonal_matrix(30);
  for (Entry& e : matrix.entries)
    if (e.row == 14 && e.column == 15) e.value = std::nan("");
  try {
    const SolvedFor solved(matrix, sparse::test_vector(matrix.n, 36));
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_TRUE(error.agreed());
    EXPECT_STREQ(error.what(), "the entry in row 15, column 16 of the matrix is a NaN");
  }
}

}  // namespace
}  // namespace ayatori::tuning
