#include "ayatori/collectives/words/word_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <random>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/schedules/validate.hpp"
#include "collectives/factorizations.hpp"

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

/// Whether this exchange can do what it would have to.
bool fits(const WordPlan& plan) {
  try {
    check_plan(plan);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Calls with every way to exchange every digit.
void for_every_exchange(WordPlan plan, const std::function<void(const WordPlan&)>& what) {
  const auto digits = static_cast<int>(plan.digits.size());
  constexpr int exchanges = std::size(all_exchanges);
  for (int number = 0; number < static_cast<int>(std::pow(exchanges, digits)); ++number) {
    for (int d = 0, rest = number; d < digits; ++d, rest /= exchanges)
      plan.digits[d].exchange = all_exchanges[rest % exchanges];
    if (fits(plan)) what(plan);
  }
}

/// Rings and circulant graphs of any number of ranks, also a prime one.
TEST(WordSchedule, EveryExchangeOfOneDigit) {
  for (int ranks = 2; ranks <= 17; ++ranks) {
    for (const auto& type : operations()) {
      for (const char* text : {"C", "MS"}) {
        const Word word = type.has_words ? parse_word(text) : Word();
        for (int root = 0; root < (type.has_root ? ranks : 1); ++root)
          for_every_exchange(
              make_plan(type.operation, ranks, word, DigitOrder::near_first, std::vector{ranks}, root),
              expect_correct);
      }
    }
  }
}

TEST(WordSchedule, EveryExchangeOfEveryWord) {
  for (const auto& radices :
       {std::vector{3, 2}, std::vector{2, 5}, std::vector{2, 3, 2}, std::vector{4, 3}}) {
    const int ranks = std::accumulate(radices.begin(), radices.end(), 1, std::multiplies());
    for (const auto& type : operations()) {
      const auto words =
          type.has_words ? hybrid2_words(static_cast<int>(radices.size())) : std::vector<Word>(1);
      for (const Word& word : words) {
        for (const DigitOrder order : orders)
          for_every_exchange(
              make_plan(type.operation, ranks, word, order, radices, type.has_root ? ranks - 2 : 0),
              expect_correct);
      }
    }
  }
}

/// Groups of any sizes with leaders, in any order of ranks, from any root; in segments and stripes.
TEST(WordSchedule, LeadersOrderSegmentsAndStripes) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const auto pick = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
    const int leaders = pick(1, 9);
    const auto all_radices = ordered_factorizations(leaders, leaders);
    const auto& radices = all_radices[pick(0, static_cast<int>(all_radices.size()) - 1)];
    WordPlan plan;
    plan.ranks = 0;
    for (int g = 0; g < leaders; ++g) {
      plan.groups.push_back(plan.ranks);
      plan.ranks += pick(1, 5);
    }
    if (trial % 5 == 0) {
      plan.groups.clear();
      plan.ranks = leaders;
    }
    for (int stride = 1; const int radix : radices) {
      plan.digits.push_back({stride, radix, all_exchanges[pick(0, 3)]});
      stride *= radix;
    }
    std::ranges::shuffle(plan.digits, random);
    plan.fold = all_exchanges[pick(0, 3)];
    plan.order.resize(plan.ranks);
    std::iota(plan.order.begin(), plan.order.end(), 0);
    std::ranges::shuffle(plan.order, random);
    const auto words = hybrid2_words(static_cast<int>(radices.size()));
    for (const auto& type : operations()) {
      plan.operation = type.schedule;
      plan.root = type.has_root ? pick(0, plan.ranks - 1) : 0;
      plan.word = type.has_words ? words[pick(0, static_cast<int>(words.size()) - 1)] : Word();
      plan.segmentation.segments = type.has_words ? pick(1, 5) : 1;
      plan.stripes = type.has_words && trial % 2 == 0 ? pick(1, 4) : 1;
      plan.rails = pick(1, plan.stripes);
      if (!fits(plan)) continue;
      expect_correct(plan);
      EXPECT_EQ(expand(plan).stages, stages_of(plan));
    }
  }
}

/// Random plans of up to 4096 ranks, as large as what checking them takes.
TEST(WordSchedule, SomePlansOfThousandsOfRanks) {
  constexpr double most_words = 1 << 22;
  std::mt19937 random(7);
  int checked = 0;
  for (const int ranks : {96, 125, 243, 500, 1000, 1024, 2187, 4096}) {
    const auto all_radices = ordered_factorizations(ranks, 16);
    for (int trial = 0; trial < 40; ++trial) {
      const auto pick = [&](int least, int most) {
        return std::uniform_int_distribution(least, most)(random);
      };
      const auto& radices = all_radices[pick(0, static_cast<int>(all_radices.size()) - 1)];
      if (radices.size() > 6) continue;
      const auto words = hybrid2_words(static_cast<int>(radices.size()));
      const auto& type = operations()[pick(0, static_cast<int>(operations().size()) - 1)];
      const Word word = type.has_words ? words[pick(0, static_cast<int>(words.size()) - 1)] : Word();
      WordPlan plan = make_plan(type.schedule, ranks, word, orders[trial % 2], radices,
                                type.has_root ? pick(0, ranks - 1) : 0);
      for (Digit& digit : plan.digits) digit.exchange = all_exchanges[pick(0, 3)];
      plan.segmentation.segments = type.has_words ? pick(1, 2) : 1;
      const double words_to_check =
          1.0 * ranks * chunks_of(plan) * plan.segmentation.segments * (type.reduces ? ranks / 64.0 : 1);
      if (!fits(plan) || words_to_check > most_words) continue;
      expect_correct(plan);
      ++checked;
    }
  }
  EXPECT_GT(checked, 50);
}

/// The same sums wherever the buffer is cut: what is asked of a reproducible result.
TEST(WordSchedule, DirectNearFirstDigitsAddInOneOrder) {
  const std::vector radices{2, 3, 2};
  std::optional<std::uint64_t> tree;
  for (const Word& word : hybrid2_words(3)) {
    const auto order =
        reduction_order(expand(make_plan(Operation::allreduce, 12, word, DigitOrder::near_first, radices)));
    EXPECT_TRUE(order.keeps_ranks) << to_string(word);
    ASSERT_TRUE(order.tree) << to_string(word);
    if (!tree) tree = order.tree;
    EXPECT_EQ(*order.tree, *tree) << to_string(word);
  }
  const auto far = reduction_order(
      expand(make_plan(Operation::allreduce, 12, parse_word("CCC"), DigitOrder::far_first, radices)));
  EXPECT_FALSE(far.keeps_ranks);
  EXPECT_NE(far.tree, tree);
  const auto ring =
      reduction_order(expand(make_plan(Operation::allreduce, 12, parse_word("MS"), DigitOrder::near_first,
                                       std::vector{Radix{12, Exchange::ring}})));
  EXPECT_FALSE(ring.tree) << "every part goes round from another rank";
}

/// No chunk reaches a rank of a broadcast twice, so its dual adds nothing twice.
TEST(WordSchedule, BroadcastsMoveNoMoreThanTheyMust) {
  for (const Word& word : hybrid2_words(4)) {
    const auto schedule = expand(make_plan(Operation::broadcast, 16, word, DigitOrder::near_first));
    int moved = 0;
    for (const auto& steps : schedule.steps) {
      for (const Step& step : steps) moved += step.kind == Step::Kind::receive ? chunk_count(step.chunks) : 0;
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
      const bool is_dual_there = std::ranges::any_of(reduce.steps[rank], [&](const Step& dual) {
        return dual.stage == broadcast.stages - 1 - step.stage && dual.peer == step.peer &&
               dual.chunks == step.chunks && dual.reduces() == (step.kind == Step::Kind::send);
      });
      EXPECT_TRUE(is_dual_there);
    }
  }
}

/// Recursive doubling and halving with near digits first combine neighbours only.
TEST(WordSchedule, NearFirstKeepsTheOrderOfOperands) {
  EXPECT_TRUE(
      reduction_order(expand(make_plan(Operation::allreduce, 16, parse_word("CCCC"), DigitOrder::near_first)))
          .keeps_ranks);
  EXPECT_FALSE(
      reduction_order(expand(make_plan(Operation::allreduce, 16, parse_word("CCCC"), DigitOrder::far_first)))
          .keeps_ranks);
  EXPECT_TRUE(reduction_order(
                  expand(make_plan(Operation::allreduce, 16, parse_word("MMCCSS"), DigitOrder::near_first)))
                  .keeps_ranks);
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
