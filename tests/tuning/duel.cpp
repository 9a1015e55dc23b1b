#include "ayatori/tuning/product/duel.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace ayatori::tuning {
namespace {

using Verdict = Duel::Verdict;

/// Runs a duel on recorded times until it is decided; gives the number of runs.
int fight(Duel& duel, const std::function<double(bool challenger, int run)>& seconds) {
  int run = 0;
  while (duel.verdict() == Verdict::undecided && run < 1000) {
    const bool challenger = duel.next();
    duel.record(seconds(challenger, run++));
  }
  return run;
}

TEST(Duel, TakesTurnsInAnOrderThatCancelsDrifts) {
  Duel duel(1);
  std::vector<bool> order(9);
  for (auto&& challenger : order) challenger = duel.next();
  EXPECT_EQ(order, (std::vector<bool>{true, true, false, false, true, true, false, false, true}));
}

TEST(Duel, TheFasterWins) {
  Duel faster(1);
  fight(faster, [](bool challenger, int) { return challenger ? 0.9 : 1.0; });
  EXPECT_EQ(faster.verdict(), Verdict::challenger);
  EXPECT_EQ(faster.challenger_seconds(), 0.9);
  EXPECT_EQ(faster.incumbent_seconds(), 1.0);
  EXPECT_EQ(faster.excess(), 0);

  Duel equal(1);
  fight(equal, [](bool, int) { return 1.0; });
  EXPECT_EQ(equal.verdict(), Verdict::incumbent) << "a change must be worth its trouble";
}

TEST(Duel, ADriftOfTheMachineFavoursNobody) {
  for (const double drift : {0.02, -0.02}) {
    Duel duel(1);
    fight(duel, [&](bool challenger, int run) { return (challenger ? 0.95 : 1.0) * (1 + drift * run); });
    EXPECT_EQ(duel.verdict(), Verdict::challenger) << drift;
    Duel other(1);
    fight(other, [&](bool challenger, int run) { return (challenger ? 1.05 : 1.0) * (1 + drift * run); });
    EXPECT_EQ(other.verdict(), Verdict::incumbent) << drift;
  }
}

TEST(Duel, OneDisturbanceDecidesNothing) {
  Duel duel(1);
  fight(duel, [](bool challenger, int run) { return run == 4 ? 50.0 : challenger ? 0.9 : 1.0; });
  EXPECT_EQ(duel.verdict(), Verdict::challenger);
}

TEST(Duel, TheHopelessIsDroppedAtOnce) {
  Duel hopeless(1);
  EXPECT_EQ(fight(hopeless, [](bool challenger, int) { return challenger ? 20.0 : 1.0; }), 1);
  EXPECT_EQ(hopeless.verdict(), Verdict::incumbent);
  EXPECT_EQ(hopeless.excess(), 19);

  Duel slow(1);
  EXPECT_LE(fight(slow, [](bool challenger, int) { return challenger ? 2.0 : 1.0; }), 6);
  EXPECT_EQ(slow.verdict(), Verdict::incumbent);
}

TEST(Duel, AColdFirstRunIsForgiven) {
  Duel duel(1);
  fight(duel, [](bool challenger, int run) { return run == 0 ? 5.0 : challenger ? 0.8 : 1.0; });
  EXPECT_EQ(duel.verdict(), Verdict::challenger);
}

TEST(Duel, TimesMayArriveLate) {
  Duel duel(1);
  std::vector<bool> started;
  for (int i = 0; i < 3; ++i) started.push_back(duel.next());
  for (int i = 0; duel.verdict() == Verdict::undecided; ++i) {
    duel.record(started[i] ? 0.5 : 1.0);
    started.push_back(duel.next());
  }
  EXPECT_EQ(duel.verdict(), Verdict::challenger);
}

}  // namespace
}  // namespace ayatori::tuning
