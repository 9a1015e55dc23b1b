#include "bench/papers/matmul.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "bench/kernels/tiled_matmul.hpp"
#include "bench/papers/summa.hpp"

namespace ayatori::bench {
namespace {

using sparse::Simd;

std::vector<Simd> all_simd() {
  std::vector<Simd> all;
  for (const Simd simd : {Simd::portable, Simd::avx2, Simd::avx512}) {
    if (simd <= sparse::best_simd()) all.push_back(simd);
  }
  return all;
}

std::vector<double> random_values(std::int64_t n, std::uint64_t seed) {
  std::vector<double> values(n);
  for (std::int64_t i = 0; i < n; ++i) values[i] = random_uniform(seed, i) - 0.5;
  return values;
}

/// m x k times k x n inside larger matrices, against the three loops.
template <class Multiply>
void expect_product(std::int64_t m, std::int64_t n, std::int64_t k, Multiply&& multiply) {
  SCOPED_TRACE(testing::Message() << m << " x " << k << " x " << n);
  const auto a = random_values(m * (k + 3), 1);
  const auto b = random_values(k * (n + 5), 2);
  auto c = random_values(m * (n + 1), 3);
  auto expected = c;
  LocalProduct product{m, n, k, a.data(), k + 3, b.data(), n + 5, c.data(), n + 1};
  multiply(product);
  product.c = expected.data();
  find_named(local_products(), "reference", "local product").run(product);
  for (std::size_t i = 0; i < c.size(); ++i)
    ASSERT_NEAR(c[i], expected[i], 1e-15 * static_cast<double>(k + 1)) << i;
}

struct Shape {
  std::int64_t m, n, k;
};
constexpr Shape shapes[] = {{1, 1, 1},     {2, 2, 2},    {7, 7, 7},     {33, 33, 33}, {8, 24, 5},
                            {16, 48, 256}, {9, 25, 300}, {65, 1, 129},  {1, 130, 64}, {0, 5, 5},
                            {5, 5, 0},     {5, 0, 5},    {67, 71, 613}, {301, 50, 33}};

TEST(Matmul, TiledProductOfEveryShapeAndInstructionSet) {
  const int most = max_threads();
  for (const int threads : {1, 2}) {
    omp_set_num_threads(threads);
    for (const Simd simd : all_simd()) {
      for (const auto& [m, n, k] : shapes)
        expect_product(m, n, k, [&](const LocalProduct& product) { tiled_product(product, simd); });
    }
  }
  omp_set_num_threads(most);
}

TEST(Matmul, BlasProductOfEveryShape) {
  const auto& blas = find_named(local_products(), "blas", "local product");
  for (const auto& [m, n, k] : shapes) {
    expect_product(m, n, k, blas.run);
    int calls = 0;
    expect_product(m, n, k, [&](LocalProduct product) {
      product.progress = [&] { ++calls; };
      blas.run(product);
    });
    EXPECT_EQ(calls > 0, m > 0 && n > 0 && k > 0);
  }
}

/// Every element of C, on any grid and with panels of any width.
TEST(Matmul, SummaIsTheSerialProduct) {
  const auto comm = comm::Comm::world();
  const RankGrid grid = *most_square_grid(comm.size());
  for (const std::int64_t n : {1, 2, 7, 33}) {
    const auto a = random_block(n, {}, 0, 1);
    const auto b = random_block(n, {}, 0, 2);
    std::vector<double> expected(n * n);
    find_named(local_products(), "reference", "local product")
        .run({n, n, n, a.values.data(), n, b.values.data(), n, expected.data(), n});
    for (const std::int64_t panel : {std::int64_t{1}, std::int64_t{4}, n}) {
      for (const MatmulForm& form : matmul_forms()) {
        auto c = random_block(n, grid, comm.rank(), 3);
        Summa summa(comm, grid, n, panel, form);
        summa.multiply(random_block(n, grid, comm.rank(), 1), random_block(n, grid, comm.rank(), 2), c,
                       local_products().front());
        for (std::int64_t i = c.rows.begin; i < c.rows.end; ++i) {
          for (std::int64_t j = c.columns.begin; j < c.columns.end; ++j)
            ASSERT_NEAR(c.row(i)[j - c.columns.begin], expected[i * n + j], 1e-14)
                << n << " " << panel << " " << form.name;
        }
      }
    }
  }
}

TEST(Matmul, IsTimedAndVerified) {
  for (const MatmulForm& form : matmul_forms()) {
    MatmulOptions options;
    options.n = 65;
    options.repetitions = 2;
    options.form = form.name;
    const auto result = time_matmul(comm::Comm::world(), options);
    ASSERT_EQ(result.timings.size(), 2U);
    for (const auto& timing : result.timings) {
      EXPECT_GT(timing.flops_per_second, 0);
      EXPECT_LE(timing.error, 3);
    }
  }
}

TEST(Matmul, RejectsWhatCannotBe) {
  const auto rejected = [](auto change) {
    MatmulOptions options;
    change(options);
    EXPECT_THROW(time_matmul(comm::Comm::world(), options), InputError);
  };
  rejected([](MatmulOptions& options) { options.n = 0; });
  rejected([](MatmulOptions& options) { options.panel = options.n + 1; });
  rejected([](MatmulOptions& options) { options.form = "no-such"; });
  rejected([](MatmulOptions& options) { options.locals = {"own", "no-such"}; });
  rejected([](MatmulOptions& options) { options.locals = {}; });
  rejected([](MatmulOptions& options) { options.repetitions = 0; });
}

}  // namespace
}  // namespace ayatori::bench
