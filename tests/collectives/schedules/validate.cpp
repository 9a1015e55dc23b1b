#include "ayatori/collectives/schedules/validate.hpp"

#include <gtest/gtest.h>

#include <random>

#include "ayatori/collectives/words/word_schedule.hpp"

namespace ayatori::collectives {
namespace {

using enum Step::Kind;

/// Two ranks, one chunk, and steps as given.
Schedule two_ranks(Operation operation, std::vector<Step> first, std::vector<Step> second, int chunks = 1) {
  int stages = 0;
  for (const auto* steps : {&first, &second}) {
    for (const Step& step : *steps) stages = std::max(stages, step.stage + 1);
  }
  return {operation, 2, 0, chunks, stages, {}, {std::move(first), std::move(second)}};
}

void expect_violation(const Schedule& schedule, const std::string& words) {
  const auto violation = find_violation(schedule);
  ASSERT_TRUE(violation) << "nothing found, but expected: " << words;
  EXPECT_NE(violation->find(words), std::string::npos) << *violation;
}

const Chunks whole{{0, 1}};

TEST(Validate, ACorrectOneHasNone) {
  EXPECT_FALSE(
      find_violation(two_ranks(Operation::broadcast, {{0, send, 1, whole}}, {{0, receive, 0, whole}})));
  EXPECT_FALSE(find_violation(two_ranks(Operation::allreduce, {{0, send, 1, whole}, {0, reduce, 1, whole}},
                                        {{0, send, 0, whole}, {0, reduce, 0, whole}})));
}

TEST(Validate, BrokenPromises) {
  expect_violation(two_ranks(Operation::broadcast, {}, {}), "not what broadcast promises");
  expect_violation(two_ranks(Operation::allreduce, {{0, send, 1, whole}}, {{0, reduce, 0, whole}}),
                   "not what allreduce promises");
}

TEST(Validate, MessagesWithoutAnEnd) {
  expect_violation(two_ranks(Operation::broadcast, {{0, send, 1, whole}}, {}), "nobody receives it");
  expect_violation(two_ranks(Operation::broadcast, {}, {{0, receive, 0, whole}}), "nothing is ever sent");
  expect_violation(two_ranks(Operation::broadcast, {{0, send, 1, {{0, 1}}}}, {{0, receive, 0, {{0, 2}}}}, 2),
                   "other chunks");
  expect_violation(two_ranks(Operation::broadcast, {{0, send, 1, whole, 1}}, {{0, receive, 0, whole, 0}}),
                   "another rail");
}

/// Each waits for the other's second stage.
TEST(Validate, DeadlockWithoutBuffers) {
  expect_violation(two_ranks(Operation::allreduce, {{0, send, 1, whole}, {1, reduce, 1, whole}},
                             {{0, send, 0, whole}, {1, reduce, 0, whole}}),
                   "waits for ever");
}

TEST(Validate, Races) {
  expect_violation(two_ranks(Operation::allreduce, {{0, send, 1, whole}, {0, receive, 1, whole}},
                             {{0, send, 0, whole}, {0, reduce, 0, whole}}),
                   "same stage");
}

TEST(Validate, WhatIsNotThereAndWhatIsThereTwice) {
  expect_violation(two_ranks(Operation::broadcast, {{0, receive, 1, whole}}, {{0, send, 0, whole}}),
                   "does not have");
  expect_violation(two_ranks(Operation::reduce, {{0, reduce, 1, whole}, {1, reduce, 1, whole}},
                             {{0, send, 0, whole}, {1, send, 0, whole}}),
                   "twice");
}

TEST(Validate, NonsenseIsNoCrash) {
  expect_violation({Operation::broadcast, 2, 0, 1, 1, {}, {{}}}, "disagree");
  expect_violation(two_ranks(Operation::broadcast, {{0, send, 7, whole}}, {}), "no such peer");
  expect_violation(two_ranks(Operation::broadcast, {{0, send, 0, whole}}, {}), "no such peer");
  expect_violation(two_ranks(Operation::broadcast, {{0, send, 1, {{0, 5}}}}, {}), "ranges of the buffer");
  expect_violation(two_ranks(Operation::broadcast, {{0, send, 1, {}}}, {}), "moves nothing");
  expect_violation(two_ranks(Operation::broadcast, {{0, send, 1, whole, -2}}, {}), "no such rail");
  expect_violation(two_ranks(Operation::broadcast, {{1, send, 1, whole}, {0, send, 1, whole}}, {}),
                   "out of order");
}

/// A wrong step anywhere is found, whatever it is.
TEST(Validate, EveryMutationIsCaught) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return static_cast<int>(random() % n); };
  int mutations = 0;
  for (const auto& type : operations()) {
    for (const char* text : {"CCC", "MMSCS", "MMMSSS", "MSMCS"}) {
      const Word word = type.has_words ? parse_word(text) : Word();
      const auto correct =
          expand(make_plan(type.operation, 8, word, DigitOrder::near_first, type.has_root ? 3 : 0));
      for (int attempt = 0; attempt < 100; ++attempt) {
        Schedule mutated = correct;
        auto& steps = mutated.steps[below(8)];
        if (steps.empty()) continue;
        Step& step = steps[below(steps.size())];
        constexpr int kinds = 6;
        switch (attempt % kinds) {
          case 0:
            step.peer = (step.peer + 1 + below(6)) % 8;
            break;
          case 1:
            step.kind = step.kind == send ? receive : send;
            break;
          case 2:
            step.chunks.back().end += step.chunks.back().count() > 1 ? -1 : 1;
            break;
          case 3:
            step.rail = 1 + below(2);
            break;
          case 4:
            steps.erase(steps.begin() + below(steps.size()));
            break;
          default:
            if (type.reduces && step.kind == reduce)
              step.kind = receive;
            else
              step.chunks.front().begin += step.chunks.front().count() > 1 ? 1 : -1;
        }
        ++mutations;
        EXPECT_TRUE(find_violation(mutated)) << type.name << " " << text << ", mutation " << attempt % kinds;
      }
    }
  }
  EXPECT_GT(mutations, 2000);
}

}  // namespace
}  // namespace ayatori::collectives
