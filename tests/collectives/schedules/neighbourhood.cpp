#include "ayatori/collectives/schedules/neighbourhood.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>

#include "ayatori/collectives/schedules/draw.hpp"
#include "ayatori/collectives/schedules/validate.hpp"

namespace ayatori::collectives {
namespace {

using enum Step::Kind;

/// Rank r owns 10 r to 10 r + 9. Ranks 2 and 3, a node, both want 8 and 9 of rank 0 and 10 of rank 1, which
/// wants 0 and 9 of rank 0, both of a node.
const Neighbourhood neighbourhood{{0, 10, 20, 30, 40}, {{}, {{0, 1}, {9, 10}}, {{8, 11}}, {{8, 11}}}};

Schedule with(std::vector<std::vector<Step>> steps) {
  int stages = 0;
  for (const auto& of_rank : steps) {
    for (const Step& step : of_rank) stages = std::max(stages, step.stage + 1);
  }
  return {.ranks = 4, .chunks = 40, .stages = stages, .steps = std::move(steps)};
}

Schedule direct() {
  return with({{{0, send, 1, {{0, 1}, {9, 10}}}, {0, send, 2, {{8, 10}}}, {0, send, 3, {{8, 10}}}},
               {{0, send, 2, {{10, 11}}}, {0, send, 3, {{10, 11}}}, {0, receive, 0, {{0, 1}, {9, 10}}}},
               {{0, receive, 0, {{8, 10}}}, {0, receive, 1, {{10, 11}}}},
               {{0, receive, 0, {{8, 10}}}, {0, receive, 1, {{10, 11}}}}});
}

/// Rank 1 is the agent of its node, 2 that of its.
Schedule aggregated() {
  return with({{{0, send, 1, {{8, 10}}}, {1, send, 1, {{0, 1}}}},
               {{0, receive, 0, {{8, 10}}}, {1, send, 2, {{8, 11}}}, {1, receive, 0, {{0, 1}}}},
               {{1, receive, 1, {{8, 11}}}, {2, send, 3, {{8, 11}}}},
               {{2, receive, 2, {{8, 11}}}}});
}

void expect_violation(const Schedule& schedule, const std::string& words) {
  const auto violation = find_violation(schedule, neighbourhood);
  ASSERT_TRUE(violation) << "nothing found, but expected: " << words;
  EXPECT_NE(violation->find(words), std::string::npos) << *violation;
}

TEST(Neighbourhood, CorrectOnesHaveNoViolation) {
  EXPECT_EQ(find_violation(direct(), neighbourhood), std::nullopt);
  EXPECT_EQ(find_violation(aggregated(), neighbourhood), std::nullopt);
}

TEST(Neighbourhood, WhatIsWrongIsSaid) {
  expect_violation(with({{}, {}, {}, {}}), "chunk 0 on rank 1 is not what the neighbourhood promises");
  auto schedule = aggregated();
  schedule.steps[1][1].stage = 0;  // sends on what arrives in the same stage
  expect_violation(schedule, "writes what the same stage reads");
  schedule = aggregated();
  schedule.steps[0].push_back({2, send, 3, {{8, 9}}});
  schedule.steps[3].push_back({2, receive, 0, {{8, 9}}});
  schedule.stages = 3;
  expect_violation(schedule, "brings what is there");
  schedule = aggregated();
  schedule.steps[0] = {{0, receive, 1, {{8, 9}}}};
  expect_violation(schedule, "brings what is there");  // as rank 0 owns it
  schedule = direct();
  schedule.steps[1][0].chunks = schedule.steps[2][1].chunks = {{10, 11}, {25, 26}};
  expect_violation(schedule, "brings what is there");
  schedule.steps[1][0].chunks = schedule.steps[2][1].chunks = {{10, 11}, {35, 36}};
  expect_violation(schedule, "does not have");
  schedule.chunks = 41;
  expect_violation(schedule, "disagree");
}

TEST(Neighbourhood, EveryMutationIsCaught) {
  int mutations = 0;
  for (const Schedule& correct : {direct(), aggregated()}) {
    for (int rank = 0; rank < correct.ranks; ++rank) {
      for (int i = 0; i < std::ssize(correct.steps[rank]); ++i) {
        const auto expect_caught = [&](const auto& mutate) {
          Schedule mutated = correct;
          mutate(mutated.steps[rank]);
          ++mutations;
          EXPECT_TRUE(find_violation(mutated, neighbourhood)) << "rank " << rank << ", step " << i;
        };
        expect_caught([&](auto& steps) { steps.erase(steps.begin() + i); });
        expect_caught([&](auto& steps) { steps.insert(steps.begin() + i, steps[i]); });
        expect_caught([&](auto& steps) { steps[i].kind = steps[i].kind == send ? receive : send; });
        expect_caught([&](auto& steps) { --steps[i].chunks.back().end; });
        expect_caught([&](auto& steps) { ++steps[i].chunks.back().end; });
        for (int shift = 1; shift < correct.ranks; ++shift)
          expect_caught([&](auto& steps) { steps[i].peer = (steps[i].peer + shift) % correct.ranks; });
      }
    }
  }
  EXPECT_EQ(mutations, 8 * 18);
}

TEST(Neighbourhood, IsDrawnAsAnySchedule) {
  EXPECT_EQ(draw_text(aggregated()),
            "stage  1: 1 message of up to 2/40\n  0->1[8-9]\n"
            "stage  2: 2 messages of up to 3/40\n  0->1[0]  1->2[8-10]\n"
            "stage  3: 1 message of up to 3/40\n  2->3[8-10]\n");
}

TEST(Neighbourhood, ElementsInARowAreARange) {
  const std::vector<std::int64_t> elements{3, 4, 5, 7, 9, 10};
  EXPECT_EQ(chunks_of(elements), (Chunks{{3, 6}, {7, 8}, {9, 11}}));
  EXPECT_EQ(chunks_of(std::span<const std::int64_t>()), Chunks());
}

}  // namespace
}  // namespace ayatori::collectives
