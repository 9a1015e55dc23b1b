#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <limits>

#include "ayatori/base/error.hpp"
#include "ayatori/sparse/kernel.hpp"
#include "ayatori/sparse/kernels/dia.hpp"
#include "ayatori/sparse/kernels/run_sell.hpp"
#include "ayatori/sparse/kernels/sell.hpp"
#include "ayatori/sparse/kernels/sell_tiles.hpp"
#include "ayatori/sparse/kernels/symmetric_tiles.hpp"
#include "ayatori/sparse/kernels/tiles.hpp"
#include "ayatori/sparse/pattern/mirror.hpp"
#include "local_matrices.hpp"

namespace ayatori::sparse {
namespace {

/// For its lifetime, this many threads.
class Threads {
 public:
  explicit Threads(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~Threads() { omp_set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

std::vector<double> product(const Kernel& kernel, const Csr& matrix, const std::vector<double>& x) {
  // A guard element behind y, and no elements of x beyond its end that could be read unseen.
  std::vector<double> y(matrix.rows + 1, 77.0);
  kernel.multiply(x, std::span(y).first(matrix.rows));
  EXPECT_EQ(y.back(), 77.0);
  y.pop_back();
  return y;
}

/// Compares with the definition, relative to the sum of |a_ij x_j|.
void expect_is_product(const std::vector<double>& y, const Csr& matrix, const std::vector<double>& x,
                       long double tolerance = 1e-14L) {
  for (std::int32_t i = 0; i < matrix.rows; ++i) {
    long double sum = 0;
    long double scale = 0;
    for (auto k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const long double term = static_cast<long double>(matrix.value[k]) * x[matrix.column[k]];
      sum += term;
      scale += std::abs(term);
    }
    ASSERT_LE(std::abs(y[i] - sum), tolerance * scale) << "row " << i;
  }
}

struct NamedKernel {
  std::string name;
  std::unique_ptr<Kernel> kernel;
};

/// Every kernel that can hold the matrix, with every instruction set of this processor.
std::vector<NamedKernel> kernels_for(const Csr& matrix) {
  const PatternFacts facts = pattern_facts(matrix);
  std::vector<NamedKernel> list;
  for (const KernelType& type : kernels()) {
    if (type.predicted_bytes(facts)) list.push_back({std::string(type.name), type.make(matrix)});
  }
  for (const Simd simd : {Simd::portable, Simd::avx2, Simd::avx512}) {
    if (simd > best_simd()) continue;
    const auto add = [&](const char* name, auto* make) {
      if (kernel(name).predicted_bytes(facts))
        list.push_back(
            {name + std::string(" simd ") + std::to_string(static_cast<int>(simd)), make(matrix, simd)});
    };
    add("sell-8", make_sell);
    add("run-sell", make_run_sell);
    add("dia", make_dia);
    add("sell-tiles", make_sell_tiles);
    add("symmetric-tiles", make_symmetric_tiles);
  }
  return list;
}

TEST(Kernels, AreTheDefinitionForEveryShapeAndNumberOfThreads) {
  for (const auto& [name, matrix] : awkward_csr()) {
    for (int threads = 1; threads <= 4; ++threads) {
      const Threads scope(threads);
      const auto x = test_vector(matrix.columns, 8);
      for (const auto& [kernel_name, kernel] : kernels_for(matrix)) {
        SCOPED_TRACE(fmt::format("{} on {}, {} x {}, {} threads", kernel_name, name, matrix.rows,
                                 matrix.columns, threads));
        const auto y = product(*kernel, matrix, x);
        expect_is_product(y, matrix, x);
        if (HasFatalFailure()) return;
        EXPECT_EQ(product(*kernel, matrix, x), y) << "not the same a second time";
      }
    }
  }
}

/// The same in single precision, to its digits, of a matrix that is scaled on the way.
TEST(Kernels, InSinglePrecisionAreTheDefinitionToItsDigits) {
  for (const auto& [name, matrix] : awkward_csr()) {
    const PatternFacts facts = pattern_facts(matrix);
    for (const int threads : {2}) {
      const Threads scope(threads);
      const auto x = test_vector(matrix.columns, 8);
      const std::vector<float> in(x.begin(), x.end());
      const auto check = [&](std::string_view kernel_name, const FloatKernel& kernel) {
        SCOPED_TRACE(fmt::format("{} on {}, {} x {}, {} threads", kernel_name, name, matrix.rows,
                                 matrix.columns, threads));
        std::vector<float> out(matrix.rows + 1, 77.0F);
        kernel.multiply(in, std::span(out).first(matrix.rows));
        EXPECT_EQ(out.back(), 77.0F);
        std::vector<double> y(matrix.rows);
        for (std::int32_t i = 0; i < matrix.rows; ++i) y[i] = 4.0 * static_cast<double>(out[i]);
        expect_is_product(y, matrix, x, 2e-6L);
      };
      const auto check_simd = [&](const char* kernel_name, auto* make) {
        if (!kernel(kernel_name).predicted_bytes(facts)) return;
        for (const Simd simd : {Simd::portable, Simd::avx2, Simd::avx512})
          if (simd <= best_simd()) check(kernel_name, *make(matrix, 0.25, simd));
      };
      for (const KernelType& type : kernels()) {
        if (type.make_float == nullptr || !type.predicted_bytes(facts)) continue;
        const auto kernel = type.make_float(matrix, 0.25);
        check(type.name, *kernel);
        if (matrix.nonzeros() > 0) {
          EXPECT_LT(kernel->matrix_bytes(), type.make(matrix)->matrix_bytes()) << type.name;
        }
      }
      check_simd("sell-8", make_float_sell);
      check_simd("run-sell", make_float_run_sell);
      check_simd("dia", make_float_dia);
      check_simd("sell-tiles", make_float_sell_tiles);
      check_simd("symmetric-tiles", make_float_symmetric_tiles);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Kernels, InSinglePrecisionWhatIsNotFiniteReachesOnlyRowsThatReferToIt) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [name, matrix] : awkward_csr()) {
    if (matrix.columns == 0) continue;
    const PatternFacts facts = pattern_facts(matrix);
    std::vector<float> x(matrix.columns, 1.0F);
    std::vector<double> in(matrix.columns, 1.0);
    x[matrix.columns / 2] = nan;
    in[matrix.columns / 2] = static_cast<double>(nan);
    std::vector<double> expected(matrix.rows);
    multiply_reference(matrix, in, expected);
    for (const KernelType& type : kernels()) {
      if (type.make_float == nullptr || !type.predicted_bytes(facts)) continue;
      std::vector<float> y(matrix.rows);
      type.make_float(matrix, 1)->multiply(x, y);
      for (std::int32_t i = 0; i < matrix.rows; ++i)
        ASSERT_EQ(std::isnan(y[i]), std::isnan(expected[i])) << type.name << " on " << name << ", row " << i;
    }
  }
}

TEST(Kernels, EveryOneHoldsSomeOfTheShapes) {
  std::vector<PatternFacts> shapes;
  for (const auto& [name, matrix] : awkward_csr()) {
    if (matrix.nonzeros() > 1000) shapes.push_back(pattern_facts(matrix));
  }
  for (const KernelType& type : kernels()) {
    const auto holds = [&](const PatternFacts& facts) { return type.predicted_bytes(facts).has_value(); };
    EXPECT_GE(std::ranges::count_if(shapes, holds), 2) << type.name;
  }
}

TEST(Kernels, ReadTheBytesThatWerePredicted) {
  const auto matrices = awkward_csr();
  std::size_t whole = 0;
  for (const auto& [name, matrix] : matrices) {
    const PatternFacts facts = pattern_facts(matrix);
    if (facts.sampled) continue;  // the next test asks less of these
    ++whole;
    for (const KernelType& type : kernels()) {
      SCOPED_TRACE(fmt::format("{} on {}, {} x {}", type.name, name, matrix.rows, matrix.columns));
      if (const auto predicted = type.predicted_bytes(facts)) {
        EXPECT_EQ(*predicted, type.make(matrix)->matrix_bytes());
      } else {
        EXPECT_THROW(type.make(matrix), InputError);
      }
    }
  }
  EXPECT_GT(2 * whole, matrices.size()) << "most are small";
}

TEST(Kernels, ReadAboutTheBytesThatWerePredictedFromASample) {
  const Csr matrix = stencil_5(300);
  const PatternFacts facts = pattern_facts(matrix);
  ASSERT_TRUE(facts.sampled);
  for (const KernelType& type : kernels()) {
    SCOPED_TRACE(type.name);
    const auto predicted = type.predicted_bytes(facts);
    if (!predicted) continue;
    const auto bytes = static_cast<double>(type.make(matrix)->matrix_bytes());
    EXPECT_NEAR(static_cast<double>(*predicted), bytes, 0.01 * bytes);
  }
}

/// More entries than the search for segments takes at once.
TEST(Kernels, TilesOfManyEntriesAreTheDefinition) {
  Csr matrix{500, 9000, {0}, {}, {}};
  for (std::int32_t i = 0; i < matrix.rows; ++i) {
    for (std::int32_t j = i % 3; j < matrix.columns; j += 3) {
      matrix.column.push_back(j);
      matrix.value.push_back(test_value(2, i * 7 + j));
    }
    matrix.row_start.push_back(static_cast<std::int64_t>(matrix.column.size()));
  }
  const Threads one(1);
  const auto kernel = make_sell_tiles(matrix, best_simd());
  const auto x = test_vector(matrix.columns, 4);
  expect_is_product(product(*kernel, matrix, x), matrix, x);
  EXPECT_LT(static_cast<double>(kernel->matrix_bytes()), 10.1 * static_cast<double>(matrix.nonzeros()));
}

/// Where hardly two entries of a row fall into a narrow tile.
TEST(Kernels, TilesOfScatteredEntriesAreWide) {
  std::vector<Entry> entries;
  constexpr std::int32_t n = 40000;  // two whole wide blocks of columns, and a part
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, i, 4.0});
    for (const std::int32_t distance : {7919, 15013, 21001}) {
      const std::int32_t j = (i + distance) % n;
      const double value = test_value(3, i + 11 * j);
      entries.push_back({i, j, value});
      entries.push_back({j, i, value});
    }
  }
  const Csr matrix = csr(n, n, entries);
  for (const TileForm& form : {whole_form, lower_form}) {
    const TileCounts narrow = count_tiles(matrix, {0, n}, form);
    const TileForm wide = widened_if_short(form, narrow, n);
    EXPECT_EQ(wide.columns, wide_tile_columns);
    EXPECT_LT(count_tiles(matrix, {0, n}, wide).tiles, narrow.tiles);
    EXPECT_EQ(widened_if_short(form, narrow, tile_columns).columns, tile_columns) << "one block as it is";
  }
  const auto x = test_vector(n, 5);
  for (const int count : {1, 3}) {
    const Threads threads(count);
    for (const auto& [name, kernel] : kernels_for(matrix)) {
      SCOPED_TRACE(name);
      expect_is_product(product(*kernel, matrix, x), matrix, x);
    }
  }
}

TEST(Kernels, TellSymmetricMatricesFromNearlySymmetricOnes) {
  const auto chain = [](std::int32_t n) {
    std::vector<Entry> entries;
    for (std::int32_t i = 0; i + 1 < n; ++i) {
      entries.push_back({i, i + 1, 1.0 + i});
      entries.push_back({i + 1, i, 1.0 + i});
    }
    return entries;
  };
  for (const int count : {1, 3}) {
    const Threads threads(count);
    for (const std::int32_t n : {1, 2, 5000}) EXPECT_TRUE(is_symmetric(csr(n, n, chain(n)))) << n;
    for (const std::int64_t place : {0, 1, 4444, 4999}) {
      auto entries = chain(5000);
      entries.push_back({place, (place + 2500) % 5000, 1.0});
      EXPECT_FALSE(is_symmetric(csr(5000, 5000, entries))) << "an entry without image at " << place;
      entries.push_back({(place + 2500) % 5000, place, 2.0});
      EXPECT_FALSE(is_symmetric(csr(5000, 5000, entries))) << "another value at " << place;
      entries.back().value = 1;
      EXPECT_TRUE(is_symmetric(csr(5000, 5000, entries))) << place;
    }
    EXPECT_FALSE(is_symmetric(csr(2, 3, {})));
  }
}

TEST(Kernels, SayWhyTheyCannotHoldAMatrix) {
  const Csr matrix = csr(70000, 1, {});
  const auto error_of = [](const char* name, const Csr& a) -> std::string {
    try {
      kernel(name).make(a);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of("symmetric", random_csr(20, 20, 0.5, 1)),
            "kernel symmetric cannot hold this matrix: it is not symmetric, choose another");
  EXPECT_EQ(error_of("symmetric-tiles", random_csr(20, 20, 0.5, 1)),
            "kernel symmetric-tiles cannot hold this matrix: it is not symmetric, choose another");
  EXPECT_EQ(
      error_of("symmetric-tiles", csr(1, 1, {{0, 0, std::numeric_limits<double>::infinity()}})),
      "kernel symmetric-tiles cannot hold this matrix: not all of its values are finite, choose another");
  EXPECT_EQ(error_of("bcsr-2x2", csr(3, 1, {})),
            "kernel bcsr-2x2 cannot hold this matrix: it has 1 columns, fewer than a block, choose another");
  EXPECT_EQ(
      error_of("csr-delta16", csr(1, 70000, {{0, 0, 1}, {0, 65536, 1}})),
      "kernel csr-delta16 cannot hold this matrix: neighbouring entries of a row are 65536 columns apart, "
      "choose another");
  EXPECT_EQ(error_of("complex-csr", stencil_5(4)),
            "kernel complex-csr cannot hold this matrix: it is not the real form of a complex matrix, choose "
            "another");
  const auto scattered = error_of("dia", random_csr(300, 300, 0.02, 2));
  EXPECT_TRUE(scattered.starts_with("kernel dia cannot hold this matrix: it would take ")) << scattered;
}

/// Elements of x that are not finite, one at a time and all.
TEST(Kernels, WhatIsNotFiniteReachesOnlyRowsThatReferToIt) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [name, matrix] : awkward_csr()) {
    if (matrix.columns == 0) continue;
    const auto list = kernels_for(matrix);
    for (const double bad : {infinity, nan}) {
      for (const std::int32_t column : {0, 1, matrix.columns / 2, matrix.columns - 1}) {
        auto x = test_vector(matrix.columns, 9);
        x[std::min(column, matrix.columns - 1)] = bad;
        std::vector<double> expected(matrix.rows);
        multiply_reference(matrix, x, expected);
        for (const auto& [kernel_name, kernel] : list) {
          const auto y = product(*kernel, matrix, x);
          for (std::int32_t i = 0; i < matrix.rows; ++i) {
            const bool same = std::isnan(expected[i])   ? std::isnan(y[i])
                              : std::isinf(expected[i]) ? y[i] == expected[i]
                                                        : std::abs(y[i] - expected[i]) < 1e-10;
            ASSERT_TRUE(same) << fmt::format("{} on {}, {} x {}: y[{}] is {} instead of {}", kernel_name,
                                             name, matrix.rows, matrix.columns, i, y[i], expected[i]);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ayatori::sparse
