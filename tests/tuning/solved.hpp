#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/tuning/solve.hpp"
#include "test_matrices.hpp"
#include "world.hpp"

namespace ayatori::tuning {

using sparse::TestMatrix;

/// A system of a small matrix, spread; and what solve() made of it.
struct Solved {
  std::shared_ptr<const sparse::SplitMatrix> parts;
  Array<double> b;
  Array<double> x;
  SolveReport report;

  Solved(const TestMatrix& matrix, double b_scale = 1, const SolveOptions& options = {},
         const SolveHooks& hooks = {})
      : parts(
            std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())))),
        b(sparse::piece(sparse::test_vector(matrix.n, 77), parts->partition.range(world().rank()))),
        x(b.size(), 0.0) {
    for (double& value : b) value *= b_scale;
    report = solve(world(), parts, b, x, options, hooks);
  }

  /// ||b - A x|| / ||b|| by code of the test's own.
  double residual(const TestMatrix& matrix) const {
    const auto all_x = world().allgatherv(std::span<const double>(x)).values;
    const auto all_b = world().allgatherv(std::span<const double>(b)).values;
    const auto ax = matrix.multiply(all_x);
    double squares = 0;
    double b_squares = 0;
    double largest = 0;
    for (const double value : all_b) largest = std::max(largest, std::abs(value));
    for (std::int64_t i = 0; i < matrix.n; ++i) {
      squares += std::pow((all_b[i] - ax[i]) / largest, 2);
      b_squares += std::pow(all_b[i] / largest, 2);
    }
    return std::sqrt(squares / b_squares);
  }
};

inline void expect_solved(const TestMatrix& matrix, const Solved& solved) {
  EXPECT_TRUE(solved.report.converged());
  EXPECT_LE(solved.report.relative_residual, 1e-8);
  EXPECT_NEAR(solved.residual(matrix), solved.report.relative_residual, 1e-10);
}

/// Diffusion on a square of n x n points, a hundred times stronger in one direction: CG needs many
/// iterations, with ILU(0) few.
inline TestMatrix anisotropic_matrix(std::int64_t n) {
  return sparse::five_point_matrix(n, 0.01, 1);
}

/// The same with another unit of the last unknown, which changes nothing for CG with the diagonal or with
/// factors, but is no even mesh as facts tell.
inline TestMatrix uneven_matrix(std::int64_t n) {
  TestMatrix matrix = anisotropic_matrix(n);
  constexpr double unit = 16;
  for (sparse::Entry& entry : matrix.entries) {
    if (entry.row == matrix.n - 1) entry.value *= unit;
    if (entry.column == matrix.n - 1) entry.value *= unit;
  }
  return matrix;
}

/// For failures: how a solve went.
inline std::string words_of(const SolveReport& report) {
  std::string words = std::string(name_of(report.status)) + "\n";
  for (const Trial& trial : report.trials)
    words += describe(trial.choice) + ": " + trial.outcome + " after " + std::to_string(trial.iterations) +
             ", " + trial.reason + "\n";
  for (const Event& event : report.events) words += event.text + "\n";
  return words;
}

inline bool has_preconditioner(std::string_view name) {
  return std::ranges::any_of(solvers::preconditioners(), [&](const auto& p) { return p.name == name; });
}

/// Whether this build has MUMPS.
inline bool has_complete_factors() {
  return has_preconditioner("direct");
}

/// All preconditioners but these.
inline std::vector<std::string> preconditioners_but(const std::vector<std::string_view>& kept) {
  std::vector<std::string> names;
  for (const auto& preconditioner : solvers::preconditioners())
    if (std::ranges::find(kept, preconditioner.name) == kept.end()) names.emplace_back(preconditioner.name);
  return names;
}

/// A clock that counts products: each call takes one until iterations begin, so that a product that is
/// measured takes one; then it stands still but for what iterations are said to take.
struct ProductClock {
  double now = 0;
  bool iterates = false;

  double read() { return iterates ? now : now += 1; }
  void advance(double products) {
    iterates = true;
    now += products;
  }
};

/// Seconds of an iteration, by preconditioner.
using RecordedSeconds = std::map<std::string, double>;

}  // namespace ayatori::tuning
