#include "ayatori/collectives/word_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/validate.hpp"
#include "ayatori/collectives/word_search.hpp"

namespace ayatori::collectives {
namespace {

constexpr DigitOrder orders[] = {DigitOrder::near_first, DigitOrder::far_first};

void expect_correct(const WordPlan& plan) {
  const auto violation = find_violation(expand(plan));
  EXPECT_FALSE(violation) << type_of(plan.operation).name << " " << to_string(plan.word) << " on "
                          << plan.ranks << " from " << plan.root << ": " << violation.value_or("");
}

/// Every word of every operation, order and root: all of them up to 8 ranks.
TEST(WordSchedule, EveryWordIsCorrect) {
  for (const int digits : {0, 1, 2, 3}) {
    const int ranks = 1 << digits;
    for (const auto& type : operations()) {
      for (const Word& word : type.has_words ? hybrid2_words(digits) : std::vector<Word>(1)) {
        for (const DigitOrder order : orders) {
          for (int root = 0; root < (type.has_root ? ranks : 1); ++root)
            expect_correct(make_plan(type.operation, ranks, word, order, root));
        }
      }
    }
  }
}

TEST(WordSchedule, EveryWordOfSixteenRanks) {
  for (const auto& type : operations()) {
    for (const Word& word : type.has_words ? hybrid2_words(4) : std::vector<Word>(1)) {
      for (const DigitOrder order : orders)
        expect_correct(make_plan(type.operation, 16, word, order, type.has_root ? 11 : 0));
    }
  }
}

/// Any radices, so any number of ranks: every word, order and root of up to 12 ranks.
TEST(WordSchedule, EveryWordOfEveryRadix) {
  for (int ranks = 1; ranks <= 12; ++ranks) {
    for (const auto& radices : ordered_factorizations(ranks, ranks)) {
      for (const auto& type : operations()) {
        const auto words =
            type.has_words ? hybrid2_words(static_cast<int>(radices.size())) : std::vector<Word>(1);
        for (const Word& word : words) {
          for (const DigitOrder order : orders) {
            for (int root = 0; root < (type.has_root ? ranks : 1); ++root)
              expect_correct(make_plan(type.operation, ranks, word, order, radices, root));
          }
        }
      }
    }
  }
}

TEST(WordSchedule, ManyRanksOfMixedRadices) {
  for (const auto& type : operations()) {
    for (const auto& radices : {std::vector{4, 3, 4}, std::vector{3, 16}, std::vector{2, 2, 2, 2, 3}}) {
      for (const Word& word :
           type.has_words ? hybrid2_words(static_cast<int>(radices.size())) : std::vector<Word>(1))
        expect_correct(
            make_plan(type.operation, 48, word, DigitOrder::near_first, radices, type.has_root ? 29 : 0));
    }
  }
}

TEST(WordSchedule, SomeWordsOfManyRanks) {
  for (const auto& type : operations()) {
    for (const char* text : {"CCCCCC", "MMMSSSCCC", "MMCSMSCCS", "MMMMMMSSSSSS"}) {
      const Word word = type.has_words ? parse_word(text) : Word();
      expect_correct(make_plan(type.operation, 64, word, DigitOrder::far_first, type.has_root ? 37 : 0));
    }
  }
}

/// No chunk reaches a rank of a broadcast twice, so its dual adds nothing twice.
TEST(WordSchedule, BroadcastsMoveNoMoreThanTheyMust) {
  for (const Word& word : hybrid2_words(4)) {
    const auto schedule = expand(make_plan(Operation::broadcast, 16, word, DigitOrder::near_first));
    int moved = 0;
    for (const auto& steps : schedule.steps) {
      for (const Step& step : steps) moved += step.kind == Step::Kind::receive ? step.chunks[0].count() : 0;
    }
    EXPECT_EQ(moved, 15 * schedule.chunks) << to_string(word);
  }
}

TEST(WordSchedule, ReduceIsTheDualOfBroadcast) {
  const Word word = parse_word("MMSCS");
  const auto broadcast = expand(make_plan(Operation::broadcast, 8, word, DigitOrder::near_first, 5));
  const auto reduce = expand(make_plan(Operation::reduce, 8, word, DigitOrder::near_first, 5));
  for (int rank = 0; rank < 8; ++rank) {
    ASSERT_EQ(broadcast.steps[rank].size(), reduce.steps[rank].size());
    for (const Step& step : broadcast.steps[rank]) {
      const auto kind = step.kind == Step::Kind::send ? Step::Kind::reduce : Step::Kind::send;
      const Step dual{broadcast.stages - 1 - step.stage, kind, step.peer, step.chunks};
      EXPECT_NE(std::ranges::find(reduce.steps[rank], dual), reduce.steps[rank].end());
    }
  }
}

/// Recursive doubling and halving with near digits first combine neighbours only.
TEST(WordSchedule, NearFirstKeepsTheOrderOfOperands) {
  EXPECT_TRUE(
      keeps_order(expand(make_plan(Operation::allreduce, 16, parse_word("CCCC"), DigitOrder::near_first))));
  EXPECT_FALSE(
      keeps_order(expand(make_plan(Operation::allreduce, 16, parse_word("CCCC"), DigitOrder::far_first))));
  EXPECT_TRUE(
      keeps_order(expand(make_plan(Operation::allreduce, 16, parse_word("MMCCSS"), DigitOrder::near_first))));
}

TEST(WordSchedule, WhatDoesNotFitIsRejected) {
  const Word two = parse_word("CC");
  EXPECT_THROW(make_plan(Operation::broadcast, 6, two, DigitOrder::near_first), InputError);
  EXPECT_THROW(make_plan(Operation::broadcast, 0, two, DigitOrder::near_first), InputError);
  EXPECT_THROW(make_plan(Operation::broadcast, 8, two, DigitOrder::near_first), InputError);
  EXPECT_THROW(make_plan(Operation::broadcast, 4, two, DigitOrder::near_first, 4), InputError);
  EXPECT_THROW(make_plan(Operation::broadcast, 4, two, DigitOrder::near_first, -1), InputError);
  const auto with_radices = [&](const std::vector<int>& radices) {
    return make_plan(Operation::broadcast, 6, two, DigitOrder::near_first, radices);
  };
  EXPECT_EQ(stages_of(with_radices({2, 3})), 2);
  for (const std::vector<int>& wrong :
       {std::vector{2, 2}, {3}, {6, 1}, {-2, -3}, {3, 3}, {1 << 30, 1 << 30}, {}})
    EXPECT_THROW(with_radices(wrong), InputError);
  EXPECT_THROW(operation("allsend"), InputError);
  EXPECT_EQ(operation("bcast"), Operation::broadcast);
}

}  // namespace
}  // namespace ayatori::collectives
