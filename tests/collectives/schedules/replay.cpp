#include "ayatori/collectives/schedules/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/schedules/cost.hpp"
#include "ayatori/collectives/schedules/validate.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"

namespace ayatori::collectives {
namespace {

using enum Step::Kind;

constexpr double alpha = 2;
constexpr double beta = 0.25;  // seconds per byte
constexpr double gap = 0.125;

machine::TransferCurve curve(const char* pattern, int pairs, double latency, double per_byte) {
  return {pattern, pairs, {}, {{{0, latency, per_byte}}, 0}};
}

/// What a burst shows where its messages are `apart`: also the first one's latency, and the answer's.
machine::TransferCurve burst(double latency, double apart) {
  return curve("burst", 1, apart + 2 * latency / 64, 0);
}

/// Ranks that are all equally far apart. `both_ways`: seconds per byte of messages that cross.
machine::Profile flat(int ranks, double both_ways = beta, double apart = gap) {
  machine::Profile profile;
  profile.ranks = ranks;
  machine::Level& level = profile.levels.emplace_back();
  level.structure.group_of.assign(ranks, 0);
  level.structure.groups = 1;
  level.curves = {curve("one-way", 1, alpha, beta), curve("both-ways", 1, alpha, both_ways),
                  burst(alpha, apart)};
  return profile;
}

/// Nodes of two ranks, of which each alone could fill the port of its node.
machine::Profile nodes_of_two(int nodes, double both_ways) {
  machine::Profile profile = flat(2 * nodes);
  profile.levels.push_back(profile.levels.front());
  machine::Level& within = profile.levels.front();
  for (int rank = 0; rank < profile.ranks; ++rank) within.structure.group_of[rank] = rank / 2;
  within.structure.groups = nodes;
  machine::Level& between = profile.levels.back();
  between.sharing_pairs = 2;
  between.curves = {curve("one-way", 1, alpha, beta), curve("both-ways", 1, alpha, both_ways),
                    curve("one-way", 2, alpha, 2 * beta), curve("both-ways", 2, alpha, 2 * both_ways),
                    burst(alpha, gap)};
  return profile;
}

double replay(const Schedule& schedule, const machine::Profile& profile, double bytes) {
  const network::Hierarchy network(profile, schedule.ranks);
  return Replay(schedule, network).seconds(bytes);
}

struct Sent {
  int stage;
  int from;
  int to;
  ChunkRange chunks;
};

Schedule schedule_of(int ranks, int chunks, const std::vector<Sent>& messages, Step::Kind arrival = receive) {
  Schedule schedule{Operation::broadcast, ranks, 0, chunks, 0, {}, {}};
  schedule.steps.resize(ranks);
  for (const auto& [stage, from, to, range] : messages) {
    schedule.stages = std::max(schedule.stages, stage + 1);
    schedule.steps[from].push_back({stage, send, to, {range}});
    schedule.steps[to].push_back({stage, arrival, from, {range}});
  }
  for (auto& steps : schedule.steps) std::ranges::stable_sort(steps, {}, &Step::stage);
  return schedule;
}

TEST(Replay, OneMessageTakesItsTime) {
  const auto schedule = schedule_of(2, 4, {{0, 0, 1, {1, 2}}});
  EXPECT_DOUBLE_EQ(replay(schedule, flat(2), 400), alpha + 100 * beta);
  EXPECT_DOUBLE_EQ(replay(schedule, flat(2), 0), alpha);
  EXPECT_DOUBLE_EQ(replay(schedule_of(2, 1, {}), flat(2), 400), 0);
  EXPECT_THROW(Replay(schedule_of(3, 1, {}), network::Hierarchy(flat(4), 2)), InputError);
}

TEST(Replay, APortIsShared) {
  const auto profile = nodes_of_two(3, beta);
  const auto one = schedule_of(6, 1, {{0, 0, 2, {0, 1}}});
  EXPECT_DOUBLE_EQ(replay(one, profile, 100), alpha + 100 * beta);
  const auto leaving = schedule_of(6, 1, {{0, 0, 2, {0, 1}}, {0, 1, 4, {0, 1}}});
  EXPECT_DOUBLE_EQ(replay(leaving, profile, 100), alpha + 200 * beta);
  const auto entering = schedule_of(6, 1, {{0, 0, 4, {0, 1}}, {0, 2, 5, {0, 1}}});
  EXPECT_DOUBLE_EQ(replay(entering, profile, 100), alpha + 200 * beta);
  const auto apart = schedule_of(6, 1, {{0, 0, 2, {0, 1}}, {0, 4, 1, {0, 1}}});
  EXPECT_DOUBLE_EQ(replay(apart, profile, 100), alpha + 100 * beta);
  EXPECT_DOUBLE_EQ(replay(apart, nodes_of_two(3, 2 * beta), 100), alpha + 200 * beta)
      << "where the directions share it";
  const auto within = schedule_of(6, 1, {{0, 0, 1, {0, 1}}, {0, 2, 4, {0, 1}}, {0, 3, 5, {0, 1}}});
  EXPECT_DOUBLE_EQ(replay(within, profile, 100), alpha + 200 * beta);
}

/// Both ports of a node carried what the probe sent, so each is half of what connects it.
TEST(Replay, RailsAreHalvesOfAPort) {
  auto profile = nodes_of_two(2, beta);
  profile.node_of_rank = {0, 0, 1, 1};
  profile.ports = {{"first", 0, 1000}, {"second", 0, 1000}, {"management", 0, 1}};
  const network::Hierarchy network(profile, 4);
  ASSERT_EQ(network.rails(), 2);
  ASSERT_EQ(network.rail_level(), 1);
  const auto seconds = [&](int first_rail, int second_rail) {
    auto schedule = schedule_of(4, 1, {{0, 0, 2, {0, 1}}, {0, 1, 3, {0, 1}}});
    for (const auto& [rank, rail] : {std::pair{0, first_rail}, {1, second_rail}})
      schedule.steps[rank][0].rail = schedule.steps[rank + 2][0].rail = rail;
    const double replayed = Replay(schedule, network).seconds(100);
    EXPECT_DOUBLE_EQ(predict_seconds(load_of(schedule, network), network, 100), replayed);
    return replayed;
  };
  EXPECT_DOUBLE_EQ(seconds(network::any_rail, network::any_rail), alpha + 200 * beta);
  EXPECT_DOUBLE_EQ(seconds(0, 1), alpha + 200 * beta);
  EXPECT_DOUBLE_EQ(seconds(1, 1), alpha + 400 * beta);
  EXPECT_DOUBLE_EQ(seconds(1, 3), alpha + 400 * beta) << "modulo their number";
  profile.ports.resize(1);
  EXPECT_EQ(network::Hierarchy(profile, 4).rails(), 1);
}

/// Where a node has one rank its lane is what the rails are parts of.
TEST(Replay, RailsOfARankOnItsOwnNode) {
  auto profile = flat(2);
  profile.node_of_rank = {0, 1};
  profile.ports = {{"first", 0, 1000}, {"second", 0, 900}};
  const network::Hierarchy network(profile, 2);
  auto schedule = schedule_of(2, 1, {{0, 0, 1, {0, 1}}});
  EXPECT_DOUBLE_EQ(Replay(schedule, network).seconds(100), alpha + 100 * beta);
  schedule.steps[0][0].rail = schedule.steps[1][0].rail = 0;
  EXPECT_DOUBLE_EQ(Replay(schedule, network).seconds(100), alpha + 200 * beta);
  profile.node_of_rank = {0, 0};
  EXPECT_EQ(network::Hierarchy(profile, 2).rails(), 1) << "nothing leaves the node";
}

/// An empty message takes up a port, too, where the curves show that many of them do.
TEST(Replay, ShortMessagesShareAPort) {
  auto profile = nodes_of_two(2, beta);
  profile.levels.back().curves[2] = curve("one-way", 2, alpha + 0.5, 2 * beta);
  EXPECT_DOUBLE_EQ(replay(schedule_of(4, 1, {{0, 0, 2, {0, 1}}}), profile, 0), alpha);
  EXPECT_DOUBLE_EQ(replay(schedule_of(4, 1, {{0, 0, 2, {0, 1}}, {0, 1, 3, {0, 1}}}), profile, 0),
                   alpha + 0.5);
}

/// The curves are those of one pair, and the level's typical one may be farther apart.
TEST(Replay, ATypicalPairIsFarther) {
  auto profile = flat(2);
  profile.levels.front().structure.typical_seconds = 1.5 * alpha + 8 * beta;
  EXPECT_DOUBLE_EQ(replay(schedule_of(2, 1, {{0, 0, 1, {0, 1}}}), profile, 100), 1.5 * alpha + 100 * beta);
}

/// Where pairs were measured their own times count; also less than those of the curves' pair.
TEST(Replay, PairsHaveTheirOwnDistances) {
  auto profile = flat(4);
  profile.pairs = {{0, 1, 3 * alpha + 8 * beta}, {0, 2, 0.5 * alpha + 8 * beta}};
  for (const auto& [peer, latency] : {std::pair{1, 3 * alpha}, {2, 0.5 * alpha}, {3, alpha}}) {
    const auto schedule = schedule_of(4, 1, {{0, 0, peer, {0, 1}}});
    const network::Hierarchy network(profile, 4);
    EXPECT_DOUBLE_EQ(Replay(schedule, network).seconds(100), latency + 100 * beta) << peer;
    EXPECT_DOUBLE_EQ(predict_seconds(load_of(schedule, network), network, 100), latency + 100 * beta) << peer;
  }
}

/// A rank that has several ways out sends on all of them, if it has somebody at their ends.
TEST(Replay, AFanWidensTheLaneOfARank) {
  auto profile = flat(3, beta, 0);
  const auto schedule = schedule_of(3, 2, {{0, 0, 1, {0, 1}}, {0, 0, 2, {1, 2}}});
  EXPECT_DOUBLE_EQ(replay(schedule, profile, 200), alpha + 200 * beta);
  profile.levels.front().fan = {2, 100, {2 * alpha + 100 * beta, 0, 0, 1}};
  EXPECT_DOUBLE_EQ(replay(schedule, profile, 200), alpha + 100 * beta);
}

/// The longer one has the port for itself once the shorter one is through.
TEST(Replay, WhatOneLeavesAnotherGets) {
  const auto schedule = schedule_of(4, 4, {{0, 0, 2, {0, 1}}, {0, 1, 3, {1, 4}}});
  EXPECT_DOUBLE_EQ(replay(schedule, nodes_of_two(2, beta), 400), alpha + (2 * 100 + 200) * beta);
}

TEST(Replay, MessagesThatCross) {
  const auto schedule = schedule_of(2, 2, {{0, 0, 1, {0, 1}}, {0, 1, 0, {1, 2}}});
  EXPECT_DOUBLE_EQ(replay(schedule, flat(2), 200), alpha + 100 * beta);
  EXPECT_DOUBLE_EQ(replay(schedule, flat(2, 2 * beta), 200), alpha + 200 * beta);
}

TEST(Replay, ShortMessagesStartAGapApart) {
  std::vector<Sent> from_one;
  std::vector<Sent> to_one;
  for (int rank = 1; rank < 6; ++rank) {
    from_one.push_back({0, 0, rank, {rank, rank + 1}});
    to_one.push_back({0, rank, 0, {rank, rank + 1}});
  }
  EXPECT_DOUBLE_EQ(replay(schedule_of(6, 6, from_one), flat(6), 0), alpha + 4 * gap);
  EXPECT_DOUBLE_EQ(replay(schedule_of(6, 6, to_one), flat(6), 0), alpha + 4 * gap);
}

/// Segments go down a line of ranks one behind the other.
TEST(Replay, ALineIsAPipeline) {
  constexpr int ranks = 5;
  constexpr int segments = 8;
  std::vector<Sent> messages;
  for (int rank = 0; rank + 1 < ranks; ++rank) messages.push_back({rank, rank, rank + 1, {0, 1}});
  auto line = schedule_of(ranks, 1, messages);
  line.segmentation.segments = segments;
  const auto profile = flat(ranks, beta, 0);
  EXPECT_NEAR(replay(line, profile, 100 * segments), (ranks - 2 + segments) * (alpha + 100 * beta), 1e-9)
      << "one message of a stage at once: every segment takes its latency";
  line.segmentation.under_way = segments;
  EXPECT_LT(replay(line, profile, 100 * segments), 0.7 * (ranks - 1) * (alpha + segments * 100 * beta))
      << "all at once share the lane, but do not arrive together, as they differ in length";
  line.segmentation.under_way = 3;
  EXPECT_LT(replay(line, profile, 4 * segments), (ranks - 2 + segments) * (alpha + 4 * beta))
      << "where latency counts, several at once hide it";
}

TEST(Replay, AStageWaitsForTheOneBefore) {
  const auto schedule = schedule_of(4, 10, {{0, 0, 1, {0, 9}}, {1, 1, 2, {9, 10}}});
  EXPECT_DOUBLE_EQ(replay(schedule, flat(4), 1000), 2 * alpha + 1000 * beta);
  const auto others = schedule_of(4, 10, {{0, 0, 1, {0, 9}}, {1, 2, 3, {9, 10}}});
  EXPECT_DOUBLE_EQ(replay(others, flat(4), 1000), alpha + 900 * beta) << "of the same rank only";
}

/// A rank that may send eagerly goes on at once.
TEST(Replay, EagerSendsDoNotWait) {
  const auto schedule = schedule_of(3, 1, {{0, 0, 1, {0, 1}}, {1, 0, 2, {0, 1}}});
  auto profile = flat(3, beta, 0);
  EXPECT_DOUBLE_EQ(replay(schedule, profile, 100), 2 * (alpha + 100 * beta));
  profile.levels.front().eager_bytes = 100;
  EXPECT_DOUBLE_EQ(replay(schedule, profile, 100), alpha + 200 * beta);
  EXPECT_DOUBLE_EQ(replay(schedule, profile, 101), 2 * (alpha + 101 * beta));
}

/// A message waits for both of its ends.
TEST(Replay, NothingIsSentBeforeItIsExpected) {
  const auto schedule = schedule_of(3, 10, {{0, 0, 1, {0, 9}}, {1, 2, 1, {8, 9}}});
  EXPECT_DOUBLE_EQ(replay(schedule, flat(3), 1000), 2 * alpha + 1000 * beta);
}

TEST(Replay, WhatArrivesIsCombinedOneAfterTheOther) {
  auto profile = flat(3);
  profile.reduction.model.pieces = {{0, 1, 0.5}};
  const std::vector<Sent> messages{{0, 1, 0, {0, 1}}, {0, 2, 0, {0, 1}}};
  const double arrived = alpha + 200 * beta;
  EXPECT_DOUBLE_EQ(replay(schedule_of(3, 1, messages), profile, 100), arrived + gap);
  EXPECT_DOUBLE_EQ(replay(schedule_of(3, 1, messages, reduce), profile, 100), arrived + 2 * (1 + 50));
}

/// 2 (p - 1) rounds, in which every rank sends a chunk to the next and combines or stores one.
TEST(Replay, ARingGoesRoundAfterRound) {
  constexpr int ranks = 7;
  Schedule ring{Operation::allreduce, ranks, 0, ranks, 2 * (ranks - 1), {}, {}};
  for (int rank = 0; rank < ranks; ++rank) {
    auto& steps = ring.steps.emplace_back();
    for (int round = 0; round < ring.stages; ++round) {
      const int out = (rank - round + 2 * ranks) % ranks;
      const int in = (out + ranks - 1) % ranks;
      steps.push_back({round, send, (rank + 1) % ranks, {{out, out + 1}}});
      steps.push_back(
          {round, round < ranks - 1 ? reduce : receive, (rank + ranks - 1) % ranks, {{in, in + 1}}});
    }
  }
  ASSERT_EQ(find_violation(ring), std::nullopt);
  auto profile = flat(ranks);
  profile.reduction.model.pieces = {{0, 1, 0.5}};
  EXPECT_NEAR(replay(ring, profile, 100 * ranks), 12 * (alpha + 100 * beta) + 6 * (1 + 50), 1e-9);
}

/// Where ranks do not drift apart and nothing is shared the words cost what the sum over their letters says.
TEST(Replay, AWordIsTheSumOfItsLetters) {
  const auto plan = make_plan(Operation::allreduce, 8, parse_word("MMCSS"), DigitOrder::near_first);
  EXPECT_NEAR(replay(expand(plan), flat(8), 800), 5 * alpha + 2 * (400 + 200) * beta + 200 * beta, 1e-9);
}

/// Enough that their shares are no longer found for every message: the long ones still get what the short
/// ones leave.
TEST(Replay, ManyAtOnceFillTheirLanes) {
  constexpr int ranks = 64;
  std::vector<Sent> messages;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (to != from) messages.push_back({0, from, to, {0, (from + to) % 2 == 0 ? 3 : 1}});
    }
  }
  const double seconds = replay(schedule_of(ranks, 4, messages), flat(ranks), 400);
  const double full = alpha + (31 * 300 + 32 * 100) * beta;
  EXPECT_GT(seconds, full * (1 - 1e-9));
  EXPECT_LT(seconds, 1.02 * full + 2 * ranks * gap);
}

/// Where all that a rank does is one stage, segments that follow each other are stages of a longer schedule.
TEST(Replay, SegmentsOfOneStageAreStages) {
  std::mt19937 random(13);
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  for (int trial = 0; trial < 40; ++trial) {
    const int nodes = pick(1, 6);
    const int segments = pick(1, 12);
    auto profile = nodes_of_two(nodes, 2 * beta);
    for (auto& level : profile.levels) level.eager_bytes = trial % 2 == 0 ? 0 : 300;
    profile.reduction.model.pieces = {{0, 1, 0.5}};
    std::vector<Sent> once;
    std::vector<Sent> stages;
    for (int from = 0; from < profile.ranks; ++from) {
      const int to = pick(0, profile.ranks - 1);
      if (to != from) once.push_back({0, from, to, {0, 1}});
    }
    for (int stage = 0; stage < segments; ++stage) {
      for (const Sent& sent : once) stages.push_back({stage, sent.from, sent.to, {stage, stage + 1}});
    }
    auto segmented = schedule_of(profile.ranks, 1, once, reduce);
    segmented.segmentation.segments = segments;
    const double seconds = replay(schedule_of(profile.ranks, segments, stages, reduce), profile, 3000);
    EXPECT_NEAR(replay(segmented, profile, 3000), seconds, 1e-8 * seconds) << "trial " << trial;
  }
}

/// Eager sends run ahead of their receiver by all segments, and are no earlier there for it.
TEST(Replay, EagerSegmentsWaitForTheirReceiver) {
  auto schedule = schedule_of(3, 10, {{0, 0, 1, {0, 9}}, {1, 2, 1, {9, 10}}});
  schedule.segmentation.segments = 4;
  for (const int eager_bytes : {0, 1'000'000}) {
    auto profile = flat(3, beta, 0);
    profile.levels.front().eager_bytes = eager_bytes;
    EXPECT_NEAR(replay(schedule, profile, 4000), 4 * (alpha + 1000 * beta) + alpha, 1e-6)
        << "the second message of all segments but the last shares the lane of the next one's first";
  }
}

}  // namespace
}  // namespace ayatori::collectives
