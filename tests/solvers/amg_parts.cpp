// What multigrid is made of: aggregates, coarse grids, sliced products, the dense inverse on the coarsest.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/multigrid/aggregate.hpp"
#include "ayatori/solvers/preconditioners/multigrid/dense_solve.hpp"
#include "ayatori/solvers/preconditioners/multigrid/grid.hpp"
#include "ayatori/solvers/preconditioners/multigrid/half.hpp"
#include "ayatori/solvers/preconditioners/multigrid/sliced.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "dense.hpp"
#include "grid_problem.hpp"

namespace ayatori::solvers {
namespace {

using sparse::DistributedMatrix;
using tests::Dense;
using tests::GridProblem;
using tests::spread;

/// A distributed matrix of blocks, dense on every rank.
template <int B, class V>
Dense dense_of(const amg::Layout& rows, const amg::Layout& columns, const amg::BlockCsr<B, V>& a) {
  const std::int64_t n = std::max(rows.partition.rows(), columns.partition.rows()) * B;
  Dense dense(n);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      for (int r = 0; r < B; ++r)
        for (int c = 0; c < B; ++c)
          dense.at((rows.first() + i) * B + r, columns.global(a.column[k]) * B + c) = a.block(k)[r * B + c];
  rows.comm.allreduce(std::span<double>(dense.value), comm::ReduceOp::sum);
  return dense;
}

Dense transposed(const Dense& a) {
  Dense t(a.n);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) t.at(j, i) = a.at(i, j);
  return t;
}

template <int B>
void check_coarsening(const GridProblem& problem) {
  const auto comm = comm::Comm::world();
  const DistributedMatrix matrix = spread(comm, problem);
  const auto fine = amg::make_fine_grid<B>(matrix, invert_diagonal(matrix, "test").value);
  const auto next = amg::coarsen<B, float>(fine.grid, {.threshold = 0.25, .largest = 2});
  ASSERT_TRUE(next.has_value());
  const amg::Layout& layout = fine.grid.layout;
  const amg::Layout& coarse = next->coarse.layout;
  EXPECT_LT(coarse.partition.rows(), layout.partition.rows() / 2);
  const Dense a = dense_of(layout, layout, fine.grid.matrix);
  const Dense p = dense_of(layout, coarse, next->prolongator);
  const Dense expected = tests::multiply(transposed(p), tests::multiply(a, p));
  Dense found = dense_of(coarse, coarse, next->coarse.matrix);
  found.value.resize(expected.value.size(), 0.0);
  Dense padded(expected.n);
  const std::int64_t size = coarse.partition.rows() * B;
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < size; ++j) padded.at(i, j) = found.at(i, j);
  EXPECT_LT(tests::max_abs(tests::add(expected, -1, padded)), 1e-6);
  for (std::int64_t i = 0; i < size; ++i) EXPECT_NEAR(padded.at(i, i), 1, 1e-6);
}

TEST(Amg, CoarsensByTheGalerkinProduct) {
  check_coarsening<1>({.n = 11});
  check_coarsening<1>({.n = 10, .wind = 2});
  check_coarsening<1>({.n = 12, .skew = 0.45});
  check_coarsening<2>({.n = 8, .unknowns = 2});
  check_coarsening<3>({.n = 7, .unknowns = 3});  // ranks are cut within nodes
}

TEST(Amg, AggregatesCoverCoupledNodesOnce) {
  // A 6 x 6 grid whose node 0 has no strong coupling.
  amg::BlockCsr<1> a{36, 36, {0}, {}, {}};
  Array<std::uint8_t> strength;
  for (std::int32_t i = 0; i < 36; ++i) {
    for (std::int32_t j = 0; j < 36; ++j) {
      const int dx = std::abs(i % 6 - j % 6);
      const int dy = std::abs(i / 6 - j / 6);
      if (dx + dy != 1 || i == 0 || j == 0) continue;
      a.column.push_back(j);
      strength.push_back(255);
    }
    a.row_start.push_back(a.blocks());
  }
  const auto aggregates = amg::aggregate({36, a.row_start, a.column, strength});
  EXPECT_EQ(aggregates.of[0], amg::Aggregates::none);
  std::vector<int> size(aggregates.count, 0);
  for (int i = 1; i < 36; ++i) {
    ASSERT_GE(aggregates.of[i], 0);
    ASSERT_LT(aggregates.of[i], aggregates.count);
    ++size[aggregates.of[i]];
  }
  for (const int s : size) EXPECT_GT(s, 0);
  EXPECT_LE(aggregates.count, 8);
}

TEST(Amg, SlicedProductIsThatOfTheBlocks) {
  constexpr int b = 2;
  const std::int32_t rows = 37;
  const std::int32_t ghosts = 5;
  amg::BlockCsr<b> a{rows, rows + ghosts, {0}, {}, {}};
  for (std::int32_t i = 0; i < rows; ++i) {
    for (std::int32_t j = 0; j < rows + ghosts; ++j) {
      const bool diagonal = j == i || j == i + 3;
      if (!diagonal && random_uniform(5, i * 100 + j) > 0.1) continue;
      a.column.push_back(j);
      for (int v = 0; v < b * b; ++v) a.value.push_back(random_uniform(6, a.blocks() * 4 + v) - 0.5);
    }
    a.row_start.push_back(a.blocks());
  }
  const amg::Shape shape(rows, ghosts);
  const amg::Sliced<b, double> sliced(a, shape);
  std::vector<double> x(shape.stride * b, 0.0);
  for (std::int32_t j = 0; j < rows + ghosts; ++j)
    for (int c = 0; c < b; ++c) x[c * shape.stride + shape.place(j)] = random_uniform(7, j * b + c);
  std::vector<double> y(shape.stride * b, 0.0);
  sliced.multiply(x.data(), [&](std::int64_t s, const amg::Slice<double>* sums) {
    for (int c = 0; c < b; ++c) amg::store_slice(&y[c * shape.stride + s * amg::slice_rows], sums[c]);
  });
  for (std::int32_t i = 0; i < rows; ++i) {
    for (int r = 0; r < b; ++r) {
      double sum = 0;
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
        for (int c = 0; c < b; ++c)
          sum += a.block(k)[r * b + c] * x[c * shape.stride + shape.place(a.column[k])];
      EXPECT_NEAR(y[r * shape.stride + i], sum, 1e-13);
    }
  }
}

#ifdef __F16C__
TEST(Amg, HalvesKeepTheProductWithOneVector) {
  // Unit diagonals; 37 rows with elements on diagonals, others here and there, and a few ghosts.
  const std::int32_t rows = 37;
  const std::int32_t ghosts = 5;
  amg::BlockCsr<1> a{rows, rows + ghosts, {0}, {}, {}};
  for (std::int32_t i = 0; i < rows; ++i) {
    for (std::int32_t j = 0; j < rows + ghosts; ++j) {
      if (std::abs(i - j) > 2 && random_uniform(5, i * 100 + j) > 0.1) continue;
      a.column.push_back(j);
      a.value.push_back(i == j ? 1 : 0.001 + random_uniform(6, a.blocks()) / 5);
    }
    a.row_start.push_back(a.blocks());
  }
  const amg::Shape shape(rows, ghosts);
  std::vector<double> kept(shape.stride, 0.0);
  for (std::int32_t j = 0; j < rows + ghosts; ++j) kept[shape.place(j)] = 1 + random_uniform(8, j);
  const amg::Sliced<1, float, amg::Half> sliced(a, shape, kept);
  EXPECT_TRUE(sliced.fits());
  const auto product = [&](const std::vector<double>& x) {
    const std::vector<float> from(x.begin(), x.end());
    std::vector<float> y(shape.stride, 0.0F);
    sliced.multiply(from.data(), [&](std::int64_t s, const amg::Slice<float>* sums) {
      amg::store_slice(&y[s * amg::slice_rows], sums[0]);
    });
    return y;
  };
  std::vector<double> unit(shape.stride);
  for (std::int32_t j = 0; j < rows + ghosts; ++j) {
    std::ranges::fill(unit, 0.0);
    unit[shape.place(j)] = 1;
    const auto column = product(unit);
    double most = 0;
    for (std::int32_t i = 0; i < rows; ++i) {
      double exact = 0;
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
        if (a.column[k] == j) exact = a.value[k];
      EXPECT_NEAR(column[i], exact, i == j ? 0x1p-9 : 0x1.01p-11 * exact);
      most = std::max(most, std::abs(column[i] - exact));
    }
    EXPECT_GT(most, 1e-6);  // it is rounded
  }
  const auto y = product(kept);
  for (std::int32_t i = 0; i < rows; ++i) {
    double exact = 0;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      exact += a.value[k] * kept[shape.place(a.column[k])];
    EXPECT_NEAR(y[i], exact, 2e-6);
  }
  const auto fits = [&](const amg::BlockCsr<1>& matrix) {
    return amg::Sliced<1, float, amg::Half>(matrix, shape, kept).fits();
  };
  amg::BlockCsr<1> other = a;
  other.value[1] = 2.5;
  EXPECT_FALSE(fits(other));
  other = a;
  for (double& v : other.value) v *= 1.1;  // no unit diagonal
  EXPECT_FALSE(fits(other));
}
#endif

TEST(Amg, InvertsDenseMatrices) {
  for (const bool symmetric : {true, false}) {
    const Dense a = tests::random_dominant(17, 0.4, 1.1, 3, symmetric);
    const amg::DenseInverse inverse(a.n, a.value, symmetric);
    EXPECT_FALSE(inverse.is_singular());
    std::vector<double> x(a.n);
    std::vector<double> y(a.n);
    std::vector<double> back(a.n, 0.0);
    for (std::int64_t i = 0; i < a.n; ++i) x[i] = random_uniform(1, i);
    inverse.apply(x, y);
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t j = 0; j < a.n; ++j) back[i] += a.at(i, j) * y[j];
    for (std::int64_t i = 0; i < a.n; ++i) EXPECT_NEAR(back[i], x[i], 1e-12);
  }
  Dense indefinite = tests::laplacian_1d(6);
  for (int i = 0; i < 6; ++i) indefinite.at(i, i) -= 1.5;
  const amg::DenseInverse by_eigenvalues(6, indefinite.value, true);
  EXPECT_FALSE(by_eigenvalues.is_singular());
  std::vector<double> column(6);
  std::vector<double> unit(6);
  for (int i = 0; i < 6; ++i) column[i] = indefinite.at(i, 2);
  by_eigenvalues.apply(column, unit);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(unit[i], i == 2 ? 1 : 0, 1e-12);
  EXPECT_THROW(amg::DenseInverse(1, {std::nan("")}, true), InputError);
  Dense singular = tests::laplacian_1d(6);  // becomes a ring: constants are its null space
  singular.at(0, 5) = singular.at(5, 0) = -1;
  const amg::DenseInverse inverse(6, singular.value, true);
  EXPECT_TRUE(inverse.is_singular());
  std::vector<double> y(6);
  inverse.apply(std::vector<double>(6, 1.0), y);
  for (const double v : y) EXPECT_NEAR(v, 0, 1e-12);
  inverse.apply(std::vector<double>{2, -1, 0, 0, 0, -1}, y);  // the ring's first column
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(y[i], i == 0 ? 5.0 / 6 : -1.0 / 6, 1e-12);
  // With a hint the same, also where rounding in float has left an eigenvalue of about 1e-7.
  for (int i = 0; i < 6; ++i) singular.at(i, i) += 1e-7 * (i - 2.5);
  const auto null_vectors = amg::find_null_vectors(singular.value, std::vector<double>(6, 2.0), 1);
  ASSERT_EQ(null_vectors.size(), 1);
  const amg::DenseInverse deflated(6, singular.value, true, null_vectors);
  EXPECT_TRUE(deflated.is_singular());
  deflated.apply(std::vector<double>(6, 1.0), y);
  for (const double v : y) EXPECT_NEAR(v, 0, 1e-12);
  deflated.apply(std::vector<double>{2, -1, 0, 0, 0, -1}, y);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(y[i], i == 0 ? 5.0 / 6 : -1.0 / 6, 1e-6);
  EXPECT_TRUE(amg::find_null_vectors(tests::laplacian_1d(6).value, std::vector<double>(6, 2.0), 1).empty());
}

}  // namespace
}  // namespace ayatori::solvers
