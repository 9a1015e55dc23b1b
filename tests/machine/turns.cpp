#include "ayatori/machine/probes/turns.hpp"

#include <gtest/gtest.h>

namespace ayatori::machine {
namespace {

/// A clock that the measurements themselves advance.
struct Machine {
  double now = 0;
  std::vector<int> order;
  int last_repetitions = 0;

  std::vector<Estimate> run(int count, const TurnLimits& limits, const std::function<double(int)>& seconds) {
    return measure_in_turns(
        count, limits,
        [&](int i, int repetitions) {
          order.push_back(i);
          last_repetitions = repetitions;
          const double taken = seconds(i);
          now += taken * repetitions;
          return taken;
        },
        [&] { return now; });
  }
};

TEST(Turns, EachOnceInEveryRound) {
  Machine machine;
  const auto estimates = machine.run(3, {.seconds = 1e9, .most_rounds = 4}, [](int i) { return 1.0 + i; });
  EXPECT_EQ(machine.order, (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(estimates[2].median, 3);
  EXPECT_EQ(estimates[2].samples, 4) << "the first round warms up";
}

TEST(Turns, EndWhenTheTimeIsOver) {
  Machine machine;
  const auto estimates = machine.run(2, {.seconds = 250, .least_rounds = 2}, [](int) { return 100.0; });
  EXPECT_EQ(estimates[0].samples, 2);
  const auto slow = machine.run(2, {.seconds = 10, .least_rounds = 2}, [](int) { return 100.0; });
  EXPECT_EQ(slow[0].samples, 1);
}

TEST(Turns, ARoundThatTakesFarTooLongCanBeStopped) {
  Machine machine;
  int calls = 0;
  const auto busy = machine.run(100, {.seconds = 10, .stopped = [&] { return machine.now > 20; }},
                                [&](int) { return calls++ < 100 ? 0.01 : 10.0; });
  EXPECT_EQ(busy[0].samples, 1);
  EXPECT_EQ(busy[99].samples, 0);
  EXPECT_LT(machine.now, 100) << "not 1000, or 3000";
}

TEST(Turns, WhatIsKnownIsNotMeasuredAgain) {
  Machine machine;
  int calls = 0;
  const auto estimates = machine.run(2, {.seconds = 1e9, .most_rounds = 30},
                                     [&](int i) { return i == 0 ? 1.0 : 1.0 + (calls++ % 2); });
  EXPECT_EQ(estimates[0].samples, 6);
  EXPECT_EQ(estimates[1].samples, 30);
}

TEST(Turns, WhatTakesNoTimeIsMeasuredOnce) {
  Machine machine;
  const auto estimates = machine.run(1, {.seconds = 1e9}, [](int) { return 0.0; });
  EXPECT_EQ(estimates[0].samples, 1);
  EXPECT_EQ(machine.last_repetitions, 1);
}

TEST(Turns, ShortThingsAreRepeated) {
  const auto repetitions = [](double seconds) {
    Machine machine;
    machine.run(1, {.seconds = 1e9, .sample_seconds = 1e-3, .most_repetitions = 100},
                [=](int) { return seconds; });
    return machine.last_repetitions;
  };
  EXPECT_EQ(repetitions(1e-4), 10);
  EXPECT_EQ(repetitions(1e-9), 100);
  EXPECT_EQ(repetitions(1), 1);
}

TEST(Turns, StopWhenTold) {
  Machine machine;
  const TurnLimits limits{.stopped = [&] { return machine.order.size() >= 5; }};
  const auto estimates = machine.run(2, limits, [](int) { return 1.0; });
  EXPECT_LE(machine.order.size(), 6U);
  EXPECT_GE(estimates[0].samples, 1);
}

}  // namespace
}  // namespace ayatori::machine
