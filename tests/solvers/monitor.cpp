#include "ayatori/solvers/methods/monitor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace ayatori::solvers {
namespace {

/// Iterations after which a method that must halve its residual every 10 ends, if its residual is
/// norm_at(iteration); 200 if it never does.
int ends_at(const std::function<double(int)>& norm_at) {
  const GlobalSum sum(comm::Comm::world());
  MethodOptions options;
  options.target = 1e-8;
  options.max_iterations = 200;
  options.stagnation_factor = 0.5;
  options.stagnation_window = 10;
  const Progress progress;
  Monitor monitor(sum, options, progress, norm_at(0));
  for (int k = 1; !monitor.stopped(); ++k) monitor.step(norm_at(k) / norm_at(0));
  const MethodResult& result = monitor.result();
  EXPECT_EQ(result.stop == Stop::stagnated, result.iterations < 200) << result.reason;
  return result.iterations;
}

TEST(Monitor, EndsWhatStandsStillAfterOneWindow) {
  EXPECT_EQ(ends_at([](int) { return 1.0; }), 10);
  EXPECT_EQ(ends_at([](int k) { return k < 25 ? 1.0 / (1 + k) : 1.0 / 25; }), 15 + 10);
}

TEST(Monitor, BearsOneRise) {
  EXPECT_EQ(ends_at([](int k) { return k <= 8 ? 1.0 + 1000 * k : 8001 * std::pow(0.9, k - 8); }), 200)
      << "a residual that falls from where it has risen to";
  EXPECT_EQ(ends_at([](int k) { return k == 0 ? 1.0 : 1000.0; }), 20) << "one that stays there";
  EXPECT_EQ(ends_at([](int k) { return 1.0 + k; }), 20) << "one that goes on rising";
}

}  // namespace
}  // namespace ayatori::solvers
