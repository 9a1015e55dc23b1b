#include "ayatori/solvers/least_squares.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "linear_system.hpp"

namespace ayatori::solvers {
namespace {

using tests::Dense;
using tests::DenseOperator;
using Vectors = std::vector<std::vector<double>>;

/// An orthonormal basis: cosines of the type 2 (DCT), or of type 4.
Vectors orthonormal(std::int64_t n, bool type_4) {
  Vectors basis;
  for (std::int64_t k = 0; k < n; ++k) {
    auto& vector = basis.emplace_back(n);
    const double length = std::sqrt((k == 0 && !type_4 ? 1.0 : 2.0) / static_cast<double>(n));
    const double frequency = static_cast<double>(k) + (type_4 ? 0.5 : 0.0);
    for (std::int64_t i = 0; i < n; ++i)
      vector[i] = length * std::cos(std::numbers::pi / static_cast<double>(n) *
                                    (static_cast<double>(i) + 0.5) * frequency);
  }
  return basis;
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// A matrix of known singular values and vectors, scaled; of all singular values but the first `rank`, 0.
struct Known {
  std::int64_t n;
  Vectors left = orthonormal(n, false);
  Vectors right = orthonormal(n, true);
  std::vector<double> singular;  ///< those that are not 0
  double scale = 1;

  Dense matrix() const {
    Dense a(n);
    for (std::size_t k = 0; k < singular.size(); ++k)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) a.at(i, j) += scale * singular[k] * left[k][i] * right[k][j];
    return a;
  }
  /// The least-squares solution of least norm.
  std::vector<double> solution(const std::vector<double>& b) const {
    std::vector<double> x(n, 0.0);
    for (std::size_t k = 0; k < singular.size(); ++k) {
      const double part = dot(left[k], b) / singular[k] / scale;
      for (std::int64_t i = 0; i < n; ++i) x[i] += part * right[k][i];
    }
    return x;
  }
  /// What of b no x reaches.
  double unreachable(const std::vector<double>& b) const {
    double square = 0;
    for (std::size_t k = singular.size(); k < left.size(); ++k) square += std::pow(dot(left[k], b), 2);
    return std::sqrt(square);
  }
};

Dense transposed(const Dense& a) {
  Dense t(a.n);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) t.at(j, i) = a.at(i, j);
  return t;
}

struct Run {
  LeastSquaresResult result;
  std::vector<double> x;  ///< global
};

Run run(const Dense& a, const std::vector<double>& b, const LeastSquaresOptions& options = {},
        const std::vector<double>& column_scale = {}, const std::function<bool()>& wants_stop = {},
        const LeastSquaresProgress& progress = {}) {
  const auto comm = comm::Comm::world();
  const auto partition = sparse::RowPartition::even(a.n, comm.size());
  const Range mine = partition.range(comm.rank());
  const auto local = [&](const std::vector<double>& v) {
    return v.empty() ? v : std::vector<double>(v.begin() + mine.begin, v.begin() + mine.end);
  };
  const DenseOperator forward(comm, a, partition);
  const DenseOperator backward(comm, transposed(a), partition);
  const GlobalSum sum(comm, wants_stop);
  const auto own_b = local(b);
  const auto own_scale = local(column_scale);
  std::vector<double> x(own_b.size(), 7.0);  // which does not matter
  Run done;
  done.result = least_squares({forward, backward, own_b, sum, own_scale}, x, options, progress);
  done.x = comm.allgatherv(std::span<const double>(x)).values;
  return done;
}

double relative_difference(const std::vector<double>& x, const std::vector<double>& expected) {
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  double difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    difference = std::max(difference, std::abs(x[i] / largest - expected[i] / largest));
  return difference;
}

std::vector<double> times(const Dense& a, const std::vector<double>& x) {
  std::vector<double> y(a.n, 0.0);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) y[i] += a.at(i, j) * x[j];
  return y;
}

const std::vector<double> some_values{5, 3, 2.5, 2, 1, 0.9, 0.5};

TEST(LeastSquares, FindsTheSolutionOfLeastNormOfAnUnsymmetricSingularMatrix) {
  for (const double scale : {1.0, 1e-150, 1e150}) {
    for (const double b_scale : {1.0, 1e-150, 1e150}) {
      if (scale * b_scale > 1e200 || b_scale / scale > 1e200 || b_scale / scale < 1e-200) continue;
      SCOPED_TRACE(fmt::format("A times {}, b times {}", scale, b_scale));
      const Known known{.n = 12, .singular = some_values, .scale = scale};
      const Dense a = known.matrix();
      auto b = tests::random_vector(12, 3);
      for (double& value : b) value *= b_scale;
      const auto [result, x] = run(a, b);
      EXPECT_EQ(result.stop, LeastSquaresStop::least_squares) << name_of(result.stop);
      EXPECT_LE(result.iterations, 12);
      EXPECT_LE(relative_difference(x, known.solution(b)), 1e-12);
      std::vector<double> unscaled = b;
      for (double& value : unscaled) value /= b_scale;
      EXPECT_NEAR(result.residual_norm / b_scale / known.unreachable(unscaled), 1, 1e-12);
      EXPECT_LE(result.normal_residual / scale / b_scale, 1e-13);
      EXPECT_NEAR(result.matrix_norm / scale, 4, 1.001);
      EXPECT_GE(result.condition, 5);
      EXPECT_LE(result.condition, 10.01);
    }
  }
}

TEST(LeastSquares, SolvesConsistentSystemsToTheTargetOrToRounding) {
  const Known known{.n = 12, .singular = some_values};
  const Dense a = known.matrix();
  const auto b = times(a, tests::random_vector(12, 4));
  const auto to_target = run(a, b, {.target = 1e-6});
  EXPECT_EQ(to_target.result.stop, LeastSquaresStop::solved);
  EXPECT_LE(to_target.result.residual_norm, 1e-6);
  EXPECT_LE(relative_difference(times(a, to_target.x), b), 1e-6);
  const auto to_the_end = run(a, b);
  EXPECT_TRUE(to_the_end.result.stop == LeastSquaresStop::rounding ||
              to_the_end.result.stop == LeastSquaresStop::least_squares)
      << name_of(to_the_end.result.stop);
  EXPECT_LE(relative_difference(to_the_end.x, known.solution(b)), 1e-12);
}

TEST(LeastSquares, EndsOnlyAtTheEndOfASpectrum) {
  // A singular value far below the others, which b excites: it belongs to the solution.
  const Known known{.n = 9, .singular = {1, 0.7, 1e-5}};
  const auto b = tests::random_vector(9, 5);
  const auto [result, x] = run(known.matrix(), b);
  EXPECT_LE(relative_difference(x, known.solution(b)), 1e-9);
  EXPECT_GE(result.condition, 1e4);
}

TEST(LeastSquares, ColumnsMayBeScaled) {
  // Units that differ by 1e8 between columns of a regular matrix: scaled, a few iterations suffice.
  Known known{.n = 8, .singular = {5, 3, 2.5, 2, 1.5, 1.2, 1.1, 1}};
  Dense a = known.matrix();
  std::vector<double> column_scale(8);
  for (std::int64_t j = 0; j < 8; ++j) {
    column_scale[j] = std::pow(10.0, static_cast<double>(j));
    for (std::int64_t i = 0; i < 8; ++i) a.at(i, j) /= column_scale[j];
  }
  const auto x = tests::random_vector(8, 6);
  const auto b = times(a, x);
  const auto scaled = run(a, b, {.target = 1e-12}, column_scale);
  EXPECT_EQ(scaled.result.stop, LeastSquaresStop::solved) << name_of(scaled.result.stop);
  EXPECT_LE(scaled.result.iterations, 10);
  EXPECT_LE(scaled.result.condition, 10);
  auto ax = times(a, scaled.x);
  EXPECT_LE(relative_difference(ax, b), 1e-11);
}

/// y = D^2 x
class SquaredScale final : public sparse::LinearOperator {
 public:
  explicit SquaredScale(std::span<const double> scale) : scale_(scale) {}
  void apply(std::span<const double> x, std::span<double> y) const override {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = scale_[i] * scale_[i] * x[i];
  }
  std::int32_t local_size() const override { return static_cast<std::int32_t>(scale_.size()); }

 private:
  std::span<const double> scale_;
};

TEST(LeastSquares, APreconditionerIsTheSquareOfAScale) {
  const Known known{.n = 8, .singular = {5, 3, 2.5, 2, 1.5, 1.2}};
  const Dense a = known.matrix();
  const auto b = tests::random_vector(8, 6);
  std::vector<double> scale(8);
  for (std::size_t j = 0; j < 8; ++j) scale[j] = std::ldexp(1.0, static_cast<int>(j % 3));
  const auto scaled = run(a, b, {}, scale);
  const auto comm = comm::Comm::world();
  const auto partition = sparse::RowPartition::even(8, comm.size());
  const Range mine = partition.range(comm.rank());
  const DenseOperator forward(comm, a, partition);
  const DenseOperator backward(comm, transposed(a), partition);
  const std::vector<double> own_b(b.begin() + mine.begin, b.begin() + mine.end);
  const std::span<const double> all = scale;
  const SquaredScale squared(all.subspan(mine.begin, mine.size()));
  const GlobalSum sum(comm, {});
  for (const auto method : {LeastSquaresMethod::lsmr, LeastSquaresMethod::lsqr}) {
    std::vector<double> x(own_b.size());
    const auto result = least_squares(
        {.a = forward, .transposed = backward, .b = own_b, .sum = sum, .preconditioner = &squared}, x,
        {.method = method});
    EXPECT_EQ(result.stop, LeastSquaresStop::least_squares) << name_of(result.stop);
    EXPECT_LE(result.iterations, scaled.result.iterations + 1);
    EXPECT_LE(relative_difference(comm.allgatherv(std::span<const double>(x)).values, scaled.x), 1e-10);
    EXPECT_NEAR(result.residual_norm, scaled.result.residual_norm, 1e-10);
  }
  EXPECT_GT(relative_difference(scaled.x, known.solution(b)), 1e-3);  // another norm is least
}

TEST(LeastSquares, OfNothingIsNothing) {
  const Known known{.n = 7, .singular = {2, 1}};
  const Dense a = known.matrix();
  const auto zero = run(a, std::vector<double>(7, 0.0));
  EXPECT_EQ(zero.result.stop, LeastSquaresStop::solved);
  EXPECT_EQ(zero.result.iterations, 0);
  for (const double value : zero.x) EXPECT_EQ(value, 0);

  // b orthogonal to the range but for rounding: no direction is made of that.
  for (const double scale : {1.0, 1e200}) {
    std::vector<double> b = known.left[5];
    for (double& value : b) value *= scale;
    const auto orthogonal = run(a, b, {.matrix_norm = 0.5});
    EXPECT_EQ(orthogonal.result.stop, LeastSquaresStop::least_squares);
    for (const double value : orthogonal.x) EXPECT_EQ(value, 0);
    EXPECT_NEAR(orthogonal.result.residual_norm / scale, 1, 1e-14);
  }
  const auto of_zero_matrix = run(Dense(7), known.left[0]);
  EXPECT_EQ(of_zero_matrix.result.stop, LeastSquaresStop::least_squares);
  for (const double value : of_zero_matrix.x) EXPECT_EQ(value, 0);
}

TEST(LeastSquares, StopsWhenItIsTold) {
  const Known known{.n = 12, .singular = some_values};
  const auto b = tests::random_vector(12, 3);
  EXPECT_EQ(run(known.matrix(), b, {.max_iterations = 3}).result.stop, LeastSquaresStop::max_iterations);
  EXPECT_EQ(run(known.matrix(), b, {.max_condition = 1.5}).result.stop, LeastSquaresStop::condition);
  const bool asks = comm::Comm::world().rank() == 0;
  EXPECT_EQ(run(known.matrix(), b, {}, {}, [asks] { return asks; }).result.stop,
            LeastSquaresStop::interrupted);
  const auto yielded = run(known.matrix(), b, {}, {}, {}, [](int k, double, double) { return k < 2; });
  EXPECT_EQ(yielded.result.stop, LeastSquaresStop::yielded);
  EXPECT_EQ(yielded.result.iterations, 2);
  Dense broken = known.matrix();
  broken.at(3, 3) = std::nan("");
  EXPECT_EQ(run(broken, b).result.stop, LeastSquaresStop::not_finite);
}

TEST(LeastSquares, TheNormOfTheResidualIsThatOfTheX) {
  const Known known{.n = 40, .singular = std::vector<double>(25, 0.0)};
  Known spread = known;
  for (std::size_t k = 0; k < spread.singular.size(); ++k)
    spread.singular[k] = 1 + static_cast<double>(k * k) / 10;
  const Dense a = spread.matrix();
  const auto b = tests::random_vector(40, 9);
  for (const int iterations : {1, 2, 5, 9}) {
    const auto [result, x] = run(a, b, {.max_iterations = iterations});
    auto r = times(a, x);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
    EXPECT_NEAR(result.residual_norm / std::sqrt(dot(r, r)), 1, 1e-10);
    const auto normal = times(transposed(a), r);
    EXPECT_NEAR(result.normal_residual / std::sqrt(dot(normal, normal)), 1, 1e-8);
    EXPECT_NEAR(result.solution_norm / std::sqrt(dot(x, x)), 1, 1e-12);
  }
}

/// A matrix with as many rows as columns are not: each rank applies its rows to all of x.
class Rectangular final : public sparse::LinearOperator {
 public:
  Rectangular(std::int64_t rows, std::int64_t columns, bool is_transposed = false)
      : rows_(rows), columns_(columns), is_transposed_(is_transposed) {}
  double at(std::int64_t i, std::int64_t j) const {
    if (is_transposed_) std::swap(i, j);
    return std::sin(static_cast<double>(1 + 3 * i * i + 7 * j)) +
           (i == j ? 2 + 0.3 * static_cast<double>(i) : 0);
  }
  Range mine() const {
    const auto comm = comm::Comm::world();
    return sparse::RowPartition::even(rows_, comm.size()).range(comm.rank());
  }
  void apply(std::span<const double> x, std::span<double> y) const override {
    const auto all = comm::Comm::world().allgatherv(x).values;
    const Range range = mine();
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      y[i - range.begin] = 0;
      for (std::int64_t j = 0; j < columns_; ++j) y[i - range.begin] += at(i, j) * all[j];
    }
  }
  std::int32_t local_size() const override { return static_cast<std::int32_t>(mine().size()); }

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  bool is_transposed_;
};

/// (A^T A + damping^2 I)^-1, or of the transpose: of whichever of them is smaller.
Dense gram_of(const Rectangular& a, std::int64_t rows, std::int64_t columns, double damping) {
  Dense gram(std::min(rows, columns));
  for (std::int64_t p = 0; p < gram.n; ++p) {
    gram.at(p, p) = damping * damping;
    for (std::int64_t q = 0; q < gram.n; ++q)
      for (std::int64_t k = 0; k < std::max(rows, columns); ++k)
        gram.at(p, q) += rows < columns ? a.at(p, k) * a.at(q, k) : a.at(k, p) * a.at(k, q);
  }
  return gram;
}

/// The solution of least norm, by LAPACK: x = (A^T A + d^2)^-1 A^T b = A^T (A A^T + d^2)^-1 b.
std::vector<double> reference(std::int64_t rows, std::int64_t columns, const std::vector<double>& b,
                              double damping) {
  const Rectangular a(rows, columns);
  const auto times_transposed = [&](const std::vector<double>& y) {
    std::vector<double> x(columns, 0.0);
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < rows; ++i) x[j] += a.at(i, j) * y[i];
    return x;
  };
  const Dense gram = gram_of(a, rows, columns, damping);
  return rows < columns ? times_transposed(tests::direct_solution(gram, b))
                        : tests::direct_solution(gram, times_transposed(b));
}

TEST(LeastSquares, OfRectangularMatricesWithAndWithoutDamping) {
  const auto comm = comm::Comm::world();
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{20, 7}, {7, 20}, {5, 1}}) {
    for (const auto method : {LeastSquaresMethod::lsmr, LeastSquaresMethod::lsqr}) {
      for (const double damping : {0.0, 0.5, 10.0}) {
        SCOPED_TRACE(
            fmt::format("{} x {}, method {}, damping {}", rows, columns, static_cast<int>(method), damping));
        const Rectangular forward(rows, columns);
        const Rectangular backward(columns, rows, true);
        const auto b = tests::random_vector(rows, 5);
        const std::vector<double> own_b(b.begin() + forward.mine().begin, b.begin() + forward.mine().end);
        std::vector<double> x(backward.mine().size());
        const GlobalSum sum(comm);
        const auto result =
            least_squares({forward, backward, own_b, sum}, x, {.method = method, .damping = damping});
        const auto all = comm.allgatherv(std::span<const double>(x)).values;
        const std::vector<double> expected = reference(rows, columns, b, damping);
        EXPECT_LE(relative_difference({all.begin(), all.end()}, expected), 1e-9);
        EXPECT_LE(result.normal_residual, 1e-10);
        double square = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
          double r = b[i];
          for (std::int64_t j = 0; j < columns; ++j) r -= forward.at(i, j) * expected[j];
          square += r * r;
        }
        for (const double value : expected) square += damping * damping * value * value;
        EXPECT_NEAR(result.residual_norm, std::sqrt(square), 1e-9);
      }
    }
  }
}

TEST(LeastSquares, LsqrEstimatesTheVariance) {
  const std::int64_t rows = 20;
  const std::int64_t columns = 6;
  const auto comm = comm::Comm::world();
  const Rectangular forward(rows, columns);
  const Rectangular backward(columns, rows, true);
  const auto b = tests::random_vector(rows, 5);
  const std::vector<double> own_b(b.begin() + forward.mine().begin, b.begin() + forward.mine().end);
  std::vector<double> x(backward.mine().size());
  std::vector<double> variance(x.size());
  const GlobalSum sum(comm);
  const auto result = least_squares({forward, backward, own_b, sum}, x,
                                    {.method = LeastSquaresMethod::lsqr, .variance = variance});
  EXPECT_EQ(result.iterations, columns);
  const Dense gram = gram_of(forward, rows, columns, 0);
  for (std::int64_t k = 0; k < std::ssize(variance); ++k) {
    std::vector<double> unit(columns, 0.0);
    const std::int64_t j = backward.mine().begin + k;
    unit[j] = 1;
    EXPECT_NEAR(variance[k] / tests::direct_solution(gram, unit)[j], 1, 1e-9);
  }
}

}  // namespace
}  // namespace ayatori::solvers
