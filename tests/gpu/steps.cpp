#include "ayatori/gpu/steps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "ayatori/base/random.hpp"
#include "on_device.hpp"

namespace ayatori::gpu {
namespace {

std::vector<double> random_vector(std::size_t n, std::uint64_t seed) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = random_uniform(seed, static_cast<std::int64_t>(i)) - 0.5;
  return v;
}

class Steps : public OnDevice {
 protected:
  DeviceArray<double> put(const std::vector<double>& v) { return {device(), std::span<const double>(v)}; }
  static std::vector<double> get(const DeviceArray<double>& v) {
    std::vector<double> values(v.size());
    v.copy_out(values);
    return values;
  }
};

TEST_P(Steps, DotsOfAllLengths) {
  for (const std::size_t n : {0, 1, 31, 256, 257, 5000, 700001}) {
    const auto x = random_vector(n, 1), y = random_vector(n, 2);
    const auto there_x = put(x), there_y = put(y), sum = put({-7});
    device().run(Dot{there_x.data(), there_y.data(), sum.data()}, static_cast<std::int32_t>(n));
    const double expected = std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
    EXPECT_NEAR(get(sum)[0], expected, 1e-12 * std::sqrt(static_cast<double>(n)) + 1e-300) << n;
    const double first = get(sum)[0];
    device().run(Dot{there_x.data(), there_y.data(), sum.data()}, static_cast<std::int32_t>(n));
    EXPECT_EQ(get(sum)[0], first) << "the same bits again";
  }
}

TEST_P(Steps, ProjectionLeavesNothingOfTheBasis) {
  constexpr std::int32_t n = 3000;
  constexpr int vectors = 11;  // more than go together
  std::vector<double> v(std::size_t(vectors) * n, 0.0);
  for (int k = 0; k < vectors; ++k)
    for (std::int32_t i = k; i < n; i += vectors) v[std::size_t(k) * n + i] = 1;
  for (int k = 0; k < vectors; ++k) {
    const double norm = std::sqrt(std::ceil(static_cast<double>(n - k) / vectors));
    for (std::int32_t i = 0; i < n; ++i) v[std::size_t(k) * n + i] /= norm;
  }
  const auto basis = put(v), w = put(random_vector(n, 3)), h = put(std::vector<double>(vectors, -1));
  for (int turn = 0; turn < 2; ++turn) {
    for (int k = 0; k < vectors; k += most_sums)
      device().run(BasisDots{basis.data() + std::ptrdiff_t{k} * n, n, std::min(most_sums, vectors - k),
                             w.data(), h.data() + k},
                   n);
    if (turn == 0) device().run(BasisCombine{basis.data(), n, vectors, -1, h.data(), w.data()}, n);
  }
  for (const double left : get(h)) EXPECT_NEAR(left, 0, 1e-13);
}

TEST_P(Steps, RecordedWorkIsDoneAgain) {
  const auto x = put({1, 2, 3});
  const auto recording = device().record([&] { device().run(Scale<double>{2, x.data(), x.data()}, 3); });
  const auto before = get(x)[0];
  recording->launch();
  recording->launch();
  EXPECT_EQ(get(x)[2], 3 * before * 4);
}

TEST_P(Steps, SumsGoOverRanksOnTheirWay) {
  const auto x = put({1, 2, 3}), sum = put({0});
  device().sum_over_ranks([](std::span<double> values) {
    for (double& value : values) value *= 10;
  });
  device().run(Dot{x.data(), x.data(), sum.data()}, 3);
  device().sum_over_ranks({});
  EXPECT_EQ(get(sum)[0], 140);
}

TEST_P(Steps, AnIterationThatHasEndedChangesNothing) {
  CgState state{};
  state.ended = Ended::met_target;
  state.rz = 5;
  state.alpha = 3;
  state.unit = 1;
  const DeviceArray<CgState> there(device(), std::span<const CgState>(&state, 1));
  const auto p = put({1, 1}), q = put({2, 2}), d = put({1, 1}), x = put({4, 4}), r = put({6, 6}),
             z = put({0, 0});
  state.alpha = 0;  // as the product's step leaves it
  device().copy_in(there.data(), &state, sizeof state);
  device().run(CgUpdate{there.data(), p.data(), q.data(), d.data(), x.data(), r.data(), z.data()}, 2);
  EXPECT_EQ(get(x), (std::vector<double>{4, 4}));
  EXPECT_EQ(get(r), (std::vector<double>{6, 6}));
  CgState after{};
  there.copy_out({&after, 1});
  EXPECT_EQ(after.iterations, 0);
  EXPECT_EQ(after.rz, 5);
}

TEST_P(Steps, ArraysMove) {
  DeviceArray<double> a = put({1, 2});
  DeviceArray<double> b = std::move(a);
  a = put({3});
  EXPECT_EQ(get(b), (std::vector<double>{1, 2}));
  EXPECT_EQ(get(a), (std::vector<double>{3}));
}

INSTANTIATE_TEST_SUITE_P(Device, Steps, testing::Values("host", "cuda"));

}  // namespace
}  // namespace ayatori::gpu
