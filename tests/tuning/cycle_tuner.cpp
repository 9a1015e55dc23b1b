#include "ayatori/tuning/run/cycle_tuner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace ayatori::tuning {
namespace {

const solvers::Orthogonalize strong = [](const solvers::GlobalSum&, const solvers::Basis&, solvers::Vector,
                                         std::span<double>) { return 0.0; };

/// Plays cycles whose decay per second depends on their length; gives the lengths used.
struct Play {
  std::vector<std::string> events;
  CycleTuner tuner;
  solvers::Cycle cycle{0, 1, 1, 1, 30, nullptr};

  explicit Play(int longest, const solvers::Orthogonalize* stronger = nullptr, double target = 1e-8)
      : tuner(target, {longest, stronger},
              [this](const std::string& kind, const std::string&) { events.push_back(kind); }) {}

  /// A cycle that shrinks the residual to `shrinkage` of what it was, in `seconds`.
  void run(double shrinkage, double seconds) {
    cycle.length = cycle.restart;
    cycle.before = cycle.after;
    cycle.after = cycle.estimated = shrinkage * cycle.before;
    tuner.plan(cycle, seconds);
  }
};

TEST(CycleTuner, GrowsWhileThatPaysAndGoesBack) {
  Play play(1000);
  std::vector<int> lengths;
  for (int i = 0; i < 8; ++i) {
    const int m = play.cycle.restart;
    lengths.push_back(m);
    const double seconds = 1e-3 * m;
    const double decay = m == 30 ? 1 : m == 60 ? 2 : m == 120 ? 3 : 0.5;  // per second
    play.run(std::exp(-decay * seconds), seconds);
  }
  EXPECT_EQ(lengths, (std::vector<int>{30, 60, 120, 240, 120, 120, 120, 120}));
}

TEST(CycleTuner, DoublesAfterACycleOfNoUse) {
  Play play(200);
  play.run(1, 1);
  EXPECT_EQ(play.cycle.restart, 60);
  play.run(1, 1);
  play.run(1, 1);
  EXPECT_EQ(play.cycle.restart, 200) << "and not beyond what memory holds";
  play.run(1, 1);
  EXPECT_EQ(play.cycle.restart, 200);
}

TEST(CycleTuner, AForcedLengthStays) {
  Play play(30);
  for (const double shrinkage : {0.9, 1.0, 0.5}) play.run(shrinkage, 1);
  EXPECT_EQ(play.cycle.restart, 30);
  EXPECT_TRUE(play.events.empty());
}

TEST(CycleTuner, LeavesAnEndingSolveAlone) {
  Play play(1000, nullptr, 0.1);
  play.run(0.2, 1);
  EXPECT_EQ(play.cycle.restart, 30);
}

TEST(CycleTuner, GrowsAgainWhenASettledLengthFails) {
  Play play(1000);
  play.run(0.9, 1);
  ASSERT_EQ(play.cycle.restart, 60);
  play.run(0.95, 2);  // slower per second: back to 30
  ASSERT_EQ(play.cycle.restart, 30);
  play.run(0.9, 1);
  ASSERT_EQ(play.cycle.restart, 30);
  play.run(0.99, 1);
  EXPECT_EQ(play.cycle.restart, 60);
}

TEST(CycleTuner, LostOrthogonalityIsSeenAndAnswered) {
  Play play(30, &strong);
  play.cycle.orthogonalize = nullptr;
  play.run(0.5, 1);
  EXPECT_EQ(play.cycle.orthogonalize, nullptr);
  play.cycle.before = 1;
  play.cycle.estimated = 1e-6;
  play.cycle.after = 0.5;
  play.tuner.plan(play.cycle, 1);
  EXPECT_EQ(play.cycle.orthogonalize, &strong);
  EXPECT_EQ(play.events, std::vector<std::string>{"loss-of-orthogonality"});
}

}  // namespace
}  // namespace ayatori::tuning
