#include "ayatori/eigen/reduction/symmetric_product.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/random.hpp"
#include "eigen/dense.hpp"

namespace ayatori::eigen {
namespace {

double element(std::int64_t i, std::int64_t j) {
  return random_uniform(3, static_cast<std::uint64_t>(std::max(i, j) * 1000 + std::min(i, j)));
}

TEST(EigenSymmetricProduct, SumOfAllParts) {
  const auto world = comm::Comm::world();
  for (const GridShape shape : shapes_of(world.size())) {
    const auto grid = make_grid(world, shape);
    for (const std::int64_t n : {1, 2, 9, 130}) {
      auto a = make_dense(grid, n);
      // What is above the diagonal must not count.
      fill(a, [](std::int64_t i, std::int64_t j) { return i >= j ? element(i, j) : 1e6; });
      SymmetricProduct<double> product(a);
      std::vector<double> x(n);
      for (std::int64_t i = 0; i < n; ++i) x[i] = random_uniform(4, static_cast<std::uint64_t>(i)) - 0.5;
      for (const std::int64_t first : {std::int64_t{0}, n / 2, n - 1}) {
        std::vector<double> x_rows(a.rows.count());
        std::vector<double> x_columns(a.columns.count());
        for (std::size_t k = 0; k < x_rows.size(); ++k) x_rows[k] = x[a.rows.global(k)];
        for (std::size_t k = 0; k < x_columns.size(); ++k) x_columns[k] = x[a.columns.global(k)];
        std::vector<double> y_rows(a.rows.count(), 5.0);
        std::vector<double> y_columns(a.columns.count(), 5.0);
        product(first, x_rows.data(), x_columns.data(), y_rows.data(), y_columns.data());

        std::vector<double> y(n, 0.0);
        for (std::size_t k = 0; k < y_rows.size(); ++k) y[a.rows.global(k)] += y_rows[k];
        for (std::size_t k = 0; k < y_columns.size(); ++k) y[a.columns.global(k)] += y_columns[k];
        world.allreduce(std::span<double>(y), comm::ReduceOp::sum);
        for (std::int64_t i = 0; i < n; ++i) {
          double expected = 0;
          for (std::int64_t j = first; j < n; ++j) expected += element(i, j) * x[j];
          // Elements before `first` are left alone.
          const auto copies = static_cast<double>(shape.rows + shape.columns);
          EXPECT_NEAR(y[i], i < first ? 5 * copies : expected, 1e-12)
              << i << " of " << n << " from " << first;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ayatori::eigen
