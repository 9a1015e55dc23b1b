#include "ayatori/solvers/block_method.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/products/block_product.hpp"
#include "ayatori/sparse/products/float_operator.hpp"
#include "linear_system.hpp"
#include "test_matrices.hpp"
#include "world.hpp"

namespace ayatori::solvers {
namespace {

using tests::Dense;
using tests::random_vector;

/// A dense operator, column by column.
class DenseBlock final : public sparse::BlockOperator {
 public:
  explicit DenseBlock(const Dense& a) : op_(world(), a, sparse::RowPartition::even(a.n, world().size())) {}
  void apply_block(std::span<const double> x, std::span<double> y, int width) const override {
    BlockPreconditioner(op_).apply_block(x, y, width);
    ++products;
  }
  mutable int products = 0;

 private:
  tests::DenseOperator op_;
};

/// Systems with one matrix, and what a block method did with them.
struct BlockTrial {
  Dense a;
  std::vector<std::vector<double>> b;  ///< global
  Dense m = tests::identity(a.n);
  BlockMethodOptions options = {};

  MethodResult result = {};
  std::vector<std::vector<double>> x = {};  ///< global
  int products = 0;
  std::int64_t reductions = 0;

  BlockTrial& run(std::string_view method, double rtol) {
    const int width = static_cast<int>(b.size());
    const Range mine = sparse::RowPartition::even(a.n, world().size()).range(world().rank());
    Array<double> block(mine.size() * width);
    std::vector<double> norms;
    for (int c = 0; c < width; ++c) {
      norms.push_back(tests::Trial::norm_of(b[c]));
      for (std::int64_t i = mine.begin; i < mine.end; ++i)
        block[(i - mine.begin) * width + c] = norms[c] > 0 ? b[c][i] / norms[c] : 0;
    }
    const std::vector<double> targets(width, rtol);
    options.targets = targets;
    const DenseBlock op(a);
    const DenseBlock preconditioner(m);
    const GlobalSum sum(world());
    Array<double> solution(block.size(), 0.0);
    result = find_block_method(method)->solve({op, preconditioner, block, width, sum}, solution, options, {});
    products = op.products;
    reductions = sum.count();
    for (int c = 0; c < width; ++c) {
      std::vector<double> own(mine.size());
      take_column(solution, width, c, own);
      for (double& value : own) value *= norms[c];
      x.push_back(world().allgatherv(std::span<const double>(own)).values);
    }
    return *this;
  }

  double relative_residual(std::size_t c) const {
    std::vector<double> r = b[c];
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t j = 0; j < a.n; ++j) r[i] -= a.at(i, j) * x[c][j];
    const double norm = tests::Trial::norm_of(b[c]);
    return norm > 0 ? tests::Trial::norm_of(r) / norm : tests::Trial::norm_of(r);
  }
  void expect_solved(double rtol) const {
    EXPECT_EQ(result.stop, Stop::converged) << result.reason << " after " << result.iterations;
    for (std::size_t c = 0; c < x.size(); ++c) EXPECT_LE(relative_residual(c), 1.1 * rtol) << "column " << c;
  }
};

std::vector<std::vector<double>> random_columns(std::int64_t n, int count) {
  std::vector<std::vector<double>> columns;
  for (int c = 0; c < count; ++c) columns.push_back(random_vector(n, 20 + c));
  return columns;
}

Dense suitable(std::string_view method, std::int64_t n) {
  return method == "cg" ? tests::random_definite(n, 0.3, 3) : tests::random_dominant(n, 0.3, 0.9, 7, false);
}

TEST(BlockMethods, SolveForEveryWidth) {
  for (const BlockMethod& method : block_methods()) {
    for (const int width : {1, 2, 3, 5, 8}) {
      for (const std::int64_t n : {4, 25}) {
        SCOPED_TRACE(fmt::format("{} width={} n={}", method.method, width, n));
        BlockTrial trial{.a = suitable(method.method, n), .b = random_columns(n, width)};
        trial.m = tests::diagonal_inverse(trial.a);
        trial.run(method.method, 1e-9).expect_solved(1e-9);
      }
    }
  }
}

TEST(BlockMethods, DependentAndVanishingColumns) {
  const std::int64_t n = 36;
  for (const BlockMethod& method : block_methods()) {
    auto b = random_columns(n, 5);
    b[1] = b[0];
    b[2].assign(n, 0.0);
    for (std::int64_t i = 0; i < n; ++i) b[3][i] = b[0][i] + b[4][i];
    for (double& value : b[4]) value *= 1e-9;
    BlockTrial trial{.a = tests::laplacian_2d(6), .b = b};
    SCOPED_TRACE(method.method);
    trial.run(method.method, 1e-10).expect_solved(1e-10);
    EXPECT_EQ(tests::Trial::norm_of(trial.x[2]), 0);
  }
}

TEST(BlockMethods, AllZeroNeedsNoProduct) {
  for (const BlockMethod& method : block_methods()) {
    BlockTrial trial{.a = tests::laplacian_2d(4), .b = {std::vector<double>(16), std::vector<double>(16)}};
    trial.run(method.method, 1e-8).expect_solved(1e-8);
    EXPECT_EQ(trial.products, 0);
  }
}

TEST(BlockMethods, OneProductAndOneReductionInAnIterationServeAll) {
  for (const BlockMethod& method : block_methods()) {
    BlockTrial trial{.a = tests::laplacian_2d(6), .b = random_columns(36, 4)};
    trial.options.restart = 60;
    trial.run(method.method, 1e-8).expect_solved(1e-8);
    EXPECT_LE(trial.products, trial.result.iterations + 1) << method.method;
    EXPECT_LE(trial.reductions, trial.result.iterations + 8) << method.method;
  }
}

TEST(BlockCg, SharedDirectionsSaveIterations) {
  const Dense a = tests::laplacian_2d(12);
  BlockTrial together{.a = a, .b = random_columns(a.n, 8)};
  together.run("cg", 1e-8).expect_solved(1e-8);
  BlockTrial alone{.a = a, .b = random_columns(a.n, 1)};
  alone.run("cg", 1e-8).expect_solved(1e-8);
  EXPECT_LT(together.result.iterations, 0.75 * alone.result.iterations);
}

TEST(BlockGmres, TakesTheIterationsOfTheSlowestColumn) {
  const Dense a = tests::random_dominant(40, 0.3, 0.9, 7, false);
  const auto b = random_columns(40, 3);
  BlockTrial together{.a = a, .b = b};
  together.options.restart = 10;
  together.run("gmres", 1e-9).expect_solved(1e-9);
  int slowest = 0;
  for (const auto& column : b) {
    tests::Trial alone{.a = a, .b = column};
    alone.options.restart = 10;
    alone.run("gmres", 1e-9);
    slowest = std::max(slowest, alone.result.iterations);
  }
  EXPECT_NEAR(together.result.iterations, slowest, 10);
}

TEST(BlockMethods, SayWhatIsWrong) {
  Dense indefinite = tests::laplacian_2d(5);
  for (std::int64_t i = 0; i < 25; i += 2) indefinite.at(i, i) = -4;
  BlockTrial trial{.a = indefinite, .b = random_columns(25, 3)};
  trial.run("cg", 1e-8);
  EXPECT_EQ(trial.result.stop, Stop::breakdown);
  EXPECT_NE(trial.result.reason.find("not positive definite"), std::string::npos) << trial.result.reason;

  BlockTrial shift{.a = tests::cyclic_shift(20), .b = random_columns(20, 2)};
  shift.b[0].assign(20, 0.0);
  shift.b[0][3] = 1;
  shift.b[1] = shift.b[0];
  shift.options.restart = 5;
  shift.run("gmres", 1e-8);
  EXPECT_EQ(shift.result.stop, Stop::stagnated);
}

TEST(BlockPreconditioner, IsThePreconditionerOfEveryColumn) {
  const auto matrix = sparse::tridiagonal_matrix(40);
  const sparse::DistributedMatrix a(world(), matrix.distribute(world()));
  const GlobalSum sum(world());
  const std::int32_t n = a.local_size();
  for (const Preconditioner& type : preconditioners()) {
    if (type.obeys.complement) continue;  // for saddle points alone
    const auto built = type.make(a, sum, {});
    const BlockPreconditioner block(*built.op);
    for (const int width : {2, 5}) {
      SCOPED_TRACE(fmt::format("{} width={}", type.name, width));
      Array<double> x(static_cast<std::size_t>(n) * width);
      for (int c = 0; c < width; ++c)
        put_column(sparse::piece(sparse::test_vector(matrix.n, c), a.partition().range(world().rank())),
                   width, c, x);
      Array<double> y(x.size());
      block.apply_block(x, y, width);
      Array<double> in(n);
      Array<double> out(n);
      Array<double> column(n);
      for (int c = 0; c < width; ++c) {
        take_column(x, width, c, in);
        built.op->apply(in, out);
        take_column(y, width, c, column);
        for (std::int32_t i = 0; i < n; ++i) ASSERT_NEAR(column[i], out[i], 1e-13);
      }
    }
  }
}

TEST(BlockProduct, IsTheProductOfEveryColumn) {
  for (const auto& matrix : sparse::awkward_matrices(world().size())) {
    const sparse::DistributedMatrix a(world(), matrix.distribute(world()));
    const std::int32_t n = a.local_size();
    for (const int width : {1, 3, 8}) {
      SCOPED_TRACE(fmt::format("{} width={}", matrix.name, width));
      const sparse::BlockProduct product(a, width);
      Array<double> x(static_cast<std::size_t>(n) * width);
      const Range mine = a.partition().range(world().rank());
      for (int c = 0; c < width; ++c)
        put_column(sparse::piece(sparse::test_vector(matrix.n, c), mine), width, c, x);
      Array<double> y(x.size());
      product.apply_block(x, y, width);
      Array<double> column(n);
      Array<double> expected(n);
      for (int c = 0; c < width; ++c) {
        take_column(x, width, c, column);
        sparse::multiply_reference(world(), a.parts(), column, expected);
        take_column(y, width, c, column);
        for (std::int32_t i = 0; i < n; ++i)
          ASSERT_NEAR(column[i], expected[i], 1e-12 * (1 + std::abs(expected[i])));
      }
    }
  }
}

/// With every kernel in turn, those without a form in single precision included.
TEST(FloatProduct, IsTheProductToSinglePrecisionInFewerBytes) {
  for (const auto& matrix : sparse::awkward_matrices(world().size())) {
    for (const auto& type : sparse::kernels()) {
      SCOPED_TRACE(matrix.name + std::string(", ") + std::string(type.name));
      sparse::DistributedMatrix a(world(), matrix.distribute(world()));
      try {
        a.use({std::string(type.name)});
      } catch (const InputError&) {  // agreed: it cannot hold this matrix
        continue;
      }
      const sparse::FloatProduct product(a);
      EXPECT_EQ(product.kernel(), type.make_float != nullptr ? type.name : "csr");
      const auto x = sparse::piece(sparse::test_vector(matrix.n, 3), a.partition().range(world().rank()));
      Array<float> in(x.size());
      std::ranges::transform(x, in.begin(), [](double value) { return static_cast<float>(value); });
      Array<float> out(x.size());
      product.apply_float(in, out);
      Array<double> expected(x.size());
      sparse::multiply_reference(world(), a.parts(), x, expected);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double own = static_cast<double>(out[i]) / product.scale();
        ASSERT_NEAR(own, expected[i], 1e-5 * (1 + std::abs(expected[i])));
      }
      const auto& parts = a.parts();
      if (product.kernel() == "csr") {
        EXPECT_EQ(product.bytes(), 8 * (parts.interior.nonzeros() + parts.halo.nonzeros()) +
                                       8 * (parts.interior.rows + 1) + 12 * parts.halo.rows +
                                       8 * a.local_size());
      }
    }
  }
}

}  // namespace
}  // namespace ayatori::solvers
