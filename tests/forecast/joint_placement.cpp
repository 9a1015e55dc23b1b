#include "ayatori/forecast/joint_placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/schedules/validate.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"
#include "ayatori/mapping/objectives/evaluation.hpp"

namespace ayatori::forecast {
namespace {

using collectives::Operation;
using mapping::CommGraph;
using mapping::PairVolume;
using network::CostModel;

/// A ring of ranks so far from each other, long messages both ways.
std::vector<PairVolume> ring(int ranks, int step) {
  std::vector<PairVolume> messages;
  for (int rank = 0; rank < ranks; ++rank) {
    messages.push_back({rank, (rank + step) % ranks, 1, 100'000});
    messages.push_back({(rank + step) % ranks, rank, 1, 100'000});
  }
  return messages;
}

std::vector<JointPlacement> place_on(const char* spec, const CommGraph& graph, int per_node,
                                     const std::vector<CollectiveCalls>& calls) {
  const auto network = network::make_network(spec, (graph.ranks() - 1) / per_node + 1);
  collectives::SearchOptions options;
  options.finalists = 2;
  return place_jointly(graph, *network, CostModel(), mapping::in_order(graph.ranks(), per_node), calls,
                       options);
}

TEST(PlaceJointly, TheBestTogetherIsFirstAndItsSchedulesAreValid) {
  const std::vector<CollectiveCalls> calls{{Operation::allreduce, 8, 2}, {Operation::broadcast, 65536, 0.5}};
  for (const char* spec : {"flat", "tree:2x4", "torus:4x2"}) {
    const CommGraph graph(24, ring(24, 5));
    const auto joint = place_on(spec, graph, 3, calls);
    ASSERT_GT(joint.size(), 1U) << spec;
    EXPECT_NE(joint.front().how, "order of ranks") << spec << ": neighbours of the ring are on other nodes";
    EXPECT_TRUE(std::ranges::is_sorted(joint, {}, &JointPlacement::seconds)) << spec;
    for (const auto& placement : joint) {
      for (int node = 0; node < 8; ++node) EXPECT_EQ(std::ranges::count(placement.node_of, node), 3);
      double sum = 0;
      ASSERT_EQ(placement.collectives.size(), calls.size());
      for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto& best = placement.collectives[i].best();
        EXPECT_EQ(best.plan.operation, calls[i].operation);
        EXPECT_EQ(best.plan.ranks, 24);
        EXPECT_EQ(find_violation(expand(best.plan)), std::nullopt) << describe(best.plan);
        sum += calls[i].calls * best.replayed_seconds;
      }
      EXPECT_DOUBLE_EQ(placement.collective_seconds, sum);
    }
  }
}

TEST(PlaceJointly, SchedulesAreThoseThatRoutesLetThroughFastest) {
  const auto network = network::make_network("torus:4x2", 8);
  const CommGraph graph(24, ring(24, 5));
  for (const auto& joint : place_on("torus:4x2", graph, 3, {{Operation::allreduce, 65536, 1}})) {
    const auto& finalists = joint.collectives.front().finalists;
    EXPECT_TRUE(std::ranges::is_sorted(finalists, {}, &collectives::Candidate::replayed_seconds));
    // Every round waits for the one before it, and none is faster than the busiest link, port and rank.
    double least = 0;
    for (const auto& round : rounds_of(expand(finalists.front().plan), 65536)) {
      const CommGraph messages(24, round);
      const auto metrics = mapping::Evaluation(messages, *network, CostModel(), joint.node_of).metrics();
      least += std::max(metrics.link_seconds, metrics.rank_seconds);
    }
    EXPECT_GE(finalists.front().replayed_seconds, (1 - 1e-9) * least);
    EXPECT_LE(finalists.front().replayed_seconds, 4 * least);
  }
}

TEST(RoundsOf, ARankSendsInEveryRoundWhatItsStepsSay) {
  collectives::Schedule schedule;  // a pipeline of two segments along three ranks
  schedule.ranks = 3;
  schedule.stages = 2;
  schedule.segmentation.segments = 2;
  using Kind = collectives::Step::Kind;
  schedule.steps = {{{0, Kind::send, 1, {{0, 1}}}},
                    {{0, Kind::receive, 0, {{0, 1}}}, {1, Kind::send, 2, {{0, 1}}}},
                    {{1, Kind::receive, 1, {{0, 1}}}}};
  const auto rounds = rounds_of(schedule, 90);
  ASSERT_EQ(rounds.size(), 3U);
  std::int64_t sent[2] = {0, 0};
  for (std::size_t round = 0; round < 3; ++round) {
    EXPECT_EQ(rounds[round].size(), round == 1 ? 2U : 1U);
    for (const auto& message : rounds[round]) {
      EXPECT_EQ(message.to, message.from + 1);
      sent[message.from] += message.bytes;
    }
  }
  EXPECT_EQ(sent[0], 90);
  EXPECT_EQ(sent[1], 90);
}

TEST(PlaceJointly, TheOrderStaysWhereNothingIsBetter) {
  const CommGraph graph(16, ring(16, 1));
  const auto joint = place_on("flat", graph, 4, {{Operation::allreduce, 1024, 1}});
  EXPECT_EQ(joint.front().how, "order of ranks");
}

TEST(PlaceJointly, LongCollectivesOutweighAShortExchange) {
  const CommGraph graph(24, ring(24, 5));
  const auto with_little = place_on("tree:2x4", graph, 3, {{Operation::allreduce, 8, 1}});
  const auto with_much = place_on("tree:2x4", graph, 3, {{Operation::allreduce, 8, 1e6}});
  EXPECT_NE(with_little.front().how, "order of ranks");
  const auto& order = *std::ranges::find(with_much, "order of ranks", &JointPlacement::how);
  const auto least = std::ranges::min(with_much, {}, &JointPlacement::collective_seconds);
  EXPECT_LE(with_much.front().collective_seconds, order.collective_seconds);
  EXPECT_NEAR(with_much.front().collective_seconds, least.collective_seconds, order.collective_seconds / 64);
}

TEST(PlaceJointly, BlocksOfLessThanAByteAreRefused) {
  const CommGraph graph(16, ring(16, 1));
  EXPECT_THROW(place_on("flat", graph, 4, {{Operation::alltoall, 15, 1}}), InputError);
}

}  // namespace
}  // namespace ayatori::forecast
