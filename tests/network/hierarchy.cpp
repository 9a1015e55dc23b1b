#include "ayatori/network/hierarchy.hpp"

#include <gtest/gtest.h>

#include "ayatori/collectives/schedules/cost.hpp"
#include "ayatori/collectives/schedules/replay.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"

namespace ayatori::network {
namespace {

constexpr double alpha = 20;   // with the bytes that go with every message
constexpr double beta = 0.25;  // seconds per byte inside a node
constexpr double slower = 4;   // between nodes

constexpr double header = 16;  // bytes that go with every message
constexpr double work = 3;     // work of a sender for a message, in seconds

machine::TransferCurve line(const char* pattern, int pairs, double latency, double per_byte) {
  return {pattern, pairs, {}, {{{0, latency, per_byte}}, 0}};
}

/// Bursts whose messages are that much later than the one before, inside a node and between nodes.
machine::Profile nodes_of_two(double gap_within, double gap_between) {
  machine::Profile profile;
  profile.ranks = 4;
  for (const auto& [group_of, byte, gap] : {std::tuple{std::vector{0, 0, 1, 1}, beta, gap_within},
                                            {std::vector{0, 0, 0, 0}, slower * beta, gap_between}}) {
    machine::Level& level = profile.levels.emplace_back();
    level.structure.group_of = group_of;
    level.structure.groups = 1 + group_of.back();
    level.curves = {line("one-way", 1, alpha + header * byte, byte),
                    line("burst", 1, gap + 2 * (alpha + header * byte) / 64, 0)};
  }
  machine::Level& between = profile.levels.back();
  between.sharing_pairs = 2;
  between.curves.push_back(line("one-way", 2, alpha + header * slower * beta, 2 * slower * beta));
  return profile;
}

TEST(Hierarchy, BytesOfAllMessagesShowInTheGapsOfSlowLevels) {
  const Hierarchy network(nodes_of_two(work + header * beta, work + header * slower * beta), 4);
  for (int level = 0; level < 2; ++level) {
    EXPECT_NEAR(network.overhead(level), header, 1e-9);
    EXPECT_NEAR(network.gap(level), work, 1e-9);
  }
}

TEST(Hierarchy, GapsThatAreTheSameEverywhereAreWork) {
  const Hierarchy network(nodes_of_two(work, work), 4);
  EXPECT_EQ(network.overhead(1), 0);
  EXPECT_DOUBLE_EQ(network.gap(1), work);
  EXPECT_EQ(Hierarchy(nodes_of_two(2 * work, work), 4).overhead(1), 0) << "or more inside a node";
}

/// Both ranks of a node to both of the other one: four messages pass a port.
TEST(Hierarchy, ShortMessagesFillAPort) {
  const auto profile = nodes_of_two(header * beta, header * slower * beta);
  const Hierarchy network(profile, 4);
  const auto plan = collectives::make_plan(collectives::Operation::alltoall, 4, {},
                                           collectives::DigitOrder::near_first, std::vector{4});
  const double through_port = alpha + 4 * (header + 4) * slower * beta;
  EXPECT_NEAR(predict_seconds(load_of(expand(plan), network), network, 16), through_port, 1e-9);
  EXPECT_NEAR(collectives::Replay(expand(plan), network).seconds(16), through_port, 1e-9);
}

/// A line through all sizes would be too flat where only long messages meet.
TEST(Hierarchy, APortIsAsWideAsLongMessagesShow) {
  auto profile = nodes_of_two(0, 0);
  auto& of_two = profile.levels.back().curves.back();
  for (const auto& [bytes, seconds] : {std::pair{8, alpha}, {1 << 10, alpha + 1024}, {1 << 13, 12'000.0}}) {
    of_two.points.push_back({bytes, {seconds, seconds, seconds, 1}});
  }
  const double seconds_per_byte = (12'000 - (alpha + 1024)) / ((1 << 13) - (1 << 10));
  EXPECT_DOUBLE_EQ(Hierarchy(profile, 4).port(1), 2 / seconds_per_byte);
  of_two.points.clear();
  EXPECT_DOUBLE_EQ(Hierarchy(profile, 4).port(1), 1 / (slower * beta)) << "published ones have no points";
}

}  // namespace
}  // namespace ayatori::network
