#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/gpu/matrix.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "on_device.hpp"
#include "world.hpp"

namespace ayatori::gpu {
namespace {

/// Row i has `length(i)` entries at ascending random columns.
template <class Length>
sparse::Csr random_rows(std::int32_t rows, std::int32_t columns, Length&& length) {
  sparse::Csr a;
  a.rows = rows;
  a.columns = columns;
  a.row_start.push_back(0);
  for (std::int32_t i = 0; i < rows; ++i) {
    const std::int64_t wanted = std::min<std::int64_t>(length(i), columns);
    const std::int64_t step = wanted > 0 ? columns / wanted : 1;
    for (std::int64_t k = 0; k < wanted; ++k) {
      const auto within = static_cast<std::int64_t>(random_uniform(i, k) * static_cast<double>(step));
      a.column.push_back(static_cast<std::int32_t>(k * step + within));
      a.value.push_back(random_uniform(i + 7, k) - 0.5);
    }
    a.row_start.push_back(static_cast<std::int64_t>(a.column.size()));
  }
  return a;
}

sparse::Csr generated(const char* spec) {
  return sparse::split(comm::Comm::self(), io::generate(comm::Comm::self(), spec)).interior;
}

std::vector<sparse::Csr> matrices() {
  std::vector<sparse::Csr> all;
  for (const char* spec :
       {"poisson2d-5:n=13", "elasticity3d:n=3", "stokes2d:n=9", "circuit:n=400", "dg-advection:n=4"})
    all.push_back(generated(spec));
  all.push_back(random_rows(1, 1, [](int) { return 1; }));
  all.push_back(random_rows(70, 50, [](int i) { return i % 4 == 0 ? 0 : i % 9; }));  // rows of zeros
  all.push_back(random_rows(50, 20000, [](int i) {
    return i == 17 ? 9000 : i == 18 ? 5000 : 3;
  }));                                                          // over chunks
  all.push_back(random_rows(4096, 64, [](int) { return 1; }));  // as many entries as two chunks
  all.push_back(random_rows(300, 300, [](int i) { return i < 299 ? 0 : 7; }));
  all.push_back(random_rows(300, 300, [](int i) { return i > 0 ? 0 : 7; }));
  all.push_back(random_rows(40, 40, [](int) { return 0; }));
  return all;
}

template <class R>
std::vector<R> product(Device& device, const Matrix<R>& matrix, std::span<const double> x) {
  const std::vector<R> rounded(x.begin(), x.end());
  std::vector<R> y(matrix.rows(), static_cast<R>(NAN));
  const DeviceArray<R> there(device, std::span<const R>(rounded));
  const DeviceArray<R> result(device, std::span<const R>(y));
  matrix.multiply(there.data(), StoreProduct<R>{result.data()});
  result.copy_out(y);
  return y;
}

class Formats : public OnDevice {};

TEST_P(Formats, MultiplyAsTheReference) {
  for (const sparse::Csr& a : matrices()) {
    std::vector<double> x(a.columns), expected(a.rows);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = random_uniform(3, static_cast<std::int64_t>(j)) - 0.5;
    sparse::multiply_reference(a, x, expected);
    const FormatFacts facts = examine_format(a);
    int tried = 0;
    for (const std::string_view format : formats()) {
      if (!suits(format, facts)) {
        EXPECT_THROW(make_matrix<double>(device(), a, format, facts), InputError) << format;
        continue;
      }
      ++tried;
      const auto y = product(device(), make_matrix<double>(device(), a, format, facts), x);
      const auto in_float = product(device(), make_matrix<float>(device(), a, format, facts), x);
      for (std::int32_t i = 0; i < a.rows; ++i) {
        double size = 0;
        for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
          size += std::abs(a.value[k] * x[a.column[k]]);
        EXPECT_NEAR(y[i], expected[i], 1e-14 * size) << format << ", row " << i << " of " << a.rows;
        EXPECT_NEAR(in_float[i], expected[i], 1e-5 * size) << format << ", row " << i << " of " << a.rows;
      }
    }
    EXPECT_GE(tried, 2);
    EXPECT_TRUE(suits(choose_format(facts), facts));
  }
}

TEST_P(Formats, SumsBehindProductsAreThoseOfAllRows) {
  for (const sparse::Csr& a : matrices()) {
    if (a.rows != a.columns) continue;
    std::vector<double> x(a.rows), y(a.rows);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = random_uniform(4, static_cast<std::int64_t>(j)) + 0.5;
    sparse::multiply_reference(a, x, y);
    double expected = 0, size = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
      expected += x[i] * y[i];
      size += std::abs(x[i] * y[i]);
    }
    CgState state{};
    state.rz = 1;
    const FormatFacts facts = examine_format(a);
    for (const std::string_view format : formats()) {
      if (!suits(format, facts)) continue;
      const DeviceArray<CgState> there(device(), std::span<const CgState>(&state, 1));
      const DeviceArray<double> p(device(), std::span<const double>(x));
      const DeviceArray<double> q(device(), a.rows);
      const auto matrix = make_matrix<double>(device(), a, format, facts);
      for (int turn = 0; turn < 2; ++turn)  // the second finds what the first has left
        matrix.multiply(p.data(), CgProduct{there.data(), p.data(), q.data()});
      CgState after{};
      there.copy_out({&after, 1});
      if (!(expected > 1e-9 * size)) continue;
      EXPECT_NEAR(1 / after.alpha, expected, 1e-11 * size) << format << ", " << a.rows << " rows";
    }
  }
}

TEST_P(Formats, HalvesRoundToElevenBits) {
  const sparse::Csr a = generated("anisotropic2d:n=12");
  std::vector<double> x(a.columns, 1.0), expected(a.rows);
  sparse::multiply_reference(a, x, expected);
  const auto y = product(device(), make_half_matrix(device(), a), x);
  for (std::int32_t i = 0; i < a.rows; ++i) {
    double size = 0;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) size += std::abs(a.value[k]);
    EXPECT_NEAR(y[i], expected[i], size / 2048);
  }
}

INSTANTIATE_TEST_SUITE_P(Device, Formats, testing::Values("host", "cuda"));

TEST(Half, RoundsToTheNearestAndTiesToEven) {
  for (const auto& [value, expected] : {std::pair{1.0F, 1.0F},
                                        {-0.1F, -0.0999755859375F},
                                        {2049.0F, 2048.0F},  // between 2048 and 2050: even
                                        {2051.0F, 2052.0F},
                                        {0x1p-24F, 0x1p-24F},  // the smallest
                                        {0x1p-26F, 0.0F},
                                        {0x1.8p-15F, 0x1.8p-15F},
                                        {65504.0F, 65504.0F},
                                        {1e9F, 65504.0F},
                                        {-1e9F, -65504.0F},
                                        {0.0F, 0.0F}})
    EXPECT_EQ(to_real(to_half(value)), expected) << value;
  EXPECT_TRUE(std::signbit(to_real(to_half(-0.0F))));
}

TEST(Formats, TheCheapestIsChosen) {
  EXPECT_EQ(choose_format(examine_format(generated("poisson3d-7:n=60"))), "diagonals");
  EXPECT_EQ(choose_format(examine_format(generated("elasticity3d:n=20"))), "block-sell");
  const sparse::Csr uneven = random_rows(60000, 60000, [](int i) { return i == 5 ? 50000 : 4; });
  EXPECT_EQ(choose_format(examine_format(uneven)), "csr-chunks");
  const sparse::Csr wide = random_rows(200, 200, [](int) { return 200; });
  EXPECT_EQ(choose_format(examine_format(wide)), "csr");  // few rows, long ones: a warp for each
}

}  // namespace
}  // namespace ayatori::gpu
