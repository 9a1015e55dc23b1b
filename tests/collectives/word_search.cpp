#include "ayatori/collectives/word_search.hpp"

#include <gtest/gtest.h>

#include <random>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/cost.hpp"

namespace ayatori::collectives {
namespace {

/// A machine with a level for every digit, whose messages do not disturb each other.
machine::Profile without_contention(std::span<const std::pair<double, double>> alpha_beta) {
  machine::Profile profile;
  profile.ranks = 1 << alpha_beta.size();
  for (std::size_t d = 0; d < alpha_beta.size(); ++d) {
    machine::Level& level = profile.levels.emplace_back();
    for (int rank = 0; rank < profile.ranks; ++rank) level.structure.group_of.push_back(rank >> (d + 1));
    level.curves = {{"one-way", 1, {}, {{{0, alpha_beta[d].first, alpha_beta[d].second}}, 0}}};
  }
  return profile;
}

TEST(WordSearch, PruningLeavesCatalanMany) {
  const std::vector<std::size_t> catalan{1, 2, 5, 14, 42, 132, 429};
  for (std::size_t digits = 1; digits <= catalan.size(); ++digits)
    EXPECT_EQ(worthwhile_words(static_cast<int>(digits)).size(), catalan[digits - 1]);
}

double cost(Operation operation, const Word& word, DigitOrder order, const machine::Profile& profile,
            double bytes, int ranks = 0) {
  const auto plan = make_plan(operation, ranks > 0 ? ranks : profile.ranks, word, order);
  return predict_seconds(loads_of(expand(plan), profile), profile, bytes);
}

/// A split that is merged at once moves what a copy moves, in two stages: never better, on any machine, at
/// any size.
TEST(WordSearch, WhatIsPrunedIsNeverBetter) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0.1, 10);
  for (int machine = 0; machine < 20; ++machine) {
    std::vector<std::pair<double, double>> alpha_beta;
    for (int d = 0; d < 3; ++d) alpha_beta.emplace_back(uniform(random), uniform(random));
    const auto profile = without_contention(alpha_beta);
    for (const Operation operation : {Operation::broadcast, Operation::allreduce}) {
      for (const Word& word : hybrid2_words(3)) {
        auto text = to_string(word);
        const auto at = text.find("MS");
        if (at == std::string::npos) continue;
        text.replace(at, 2, "C");
        for (const double bytes : {0.0, 1.0, 100.0}) {
          EXPECT_LE(cost(operation, parse_word(text), DigitOrder::near_first, profile, bytes),
                    cost(operation, word, DigitOrder::near_first, profile, bytes) * (1 + 1e-12))
              << to_string(word);
        }
      }
    }
  }
}

/// Without contention some Hybrid1 word is as good as any, where all distances are the same (Imamura's
/// result).
TEST(WordSearch, Hybrid1SufficesWhereAllDistancesAreTheSame) {
  const std::vector<std::pair<double, double>> alpha_beta(4, {1.0, 1.0});
  const auto profile = without_contention(alpha_beta);
  for (const double bytes : {0.1, 0.5, 1.0, 2.0, 4.0, 10.0, 100.0}) {
    double best_hybrid1 = 1e300;
    for (int splits = 0; splits <= 4; ++splits)
      best_hybrid1 = std::min(best_hybrid1, cost(Operation::allreduce, hybrid1(4, splits),
                                                 DigitOrder::near_first, profile, bytes));
    for (const Word& word : hybrid2_words(4))
      EXPECT_LE(best_hybrid1,
                cost(Operation::allreduce, word, DigitOrder::near_first, profile, bytes) * (1 + 1e-12));
  }
}

TEST(WordSearch, FindsTheLeast) {
  const auto profile = machine::load_profile("altix3700bx2");
  const std::vector<std::int64_t> sizes{8, 1 << 13, 1 << 26};
  const auto best = search_words(Operation::allreduce, 16, profile, sizes, 2);
  ASSERT_EQ(best.size(), 3U);
  EXPECT_EQ(to_string(best[0].word), "CCCC") << "short messages want few stages";
  EXPECT_GT(depth_of(best[2].word), 0) << "long ones want to be split";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (const Word& word : hybrid2_words(4)) {
      for (const DigitOrder order : {DigitOrder::near_first, DigitOrder::far_first})
        EXPECT_LE(best[i].seconds,
                  cost(Operation::allreduce, word, order, profile, static_cast<double>(sizes[i]), 16))
            << to_string(word);
    }
    EXPECT_GE(best[i].binomial_seconds, best[i].seconds);
    EXPECT_GE(best[i].rabenseifner_seconds, best[i].seconds);
  }
}

TEST(WordSearch, EveryProductOfRadices) {
  using Lists = std::vector<std::vector<int>>;
  EXPECT_EQ(ordered_factorizations(1, 16), (Lists{{}}));
  EXPECT_EQ(ordered_factorizations(12, 16),
            (Lists{{2, 2, 3}, {2, 3, 2}, {2, 6}, {3, 2, 2}, {3, 4}, {4, 3}, {6, 2}, {12}}));
  EXPECT_EQ(ordered_factorizations(12, 3), (Lists{{2, 2, 3}, {2, 3, 2}, {3, 2, 2}}));
  EXPECT_EQ(ordered_factorizations(256, 256).size(), 128U);
  EXPECT_TRUE(ordered_factorizations(34, 16).empty());
}

/// Where starting a message costs next to nothing, short ones go to everybody at once; a small gap decides
/// how many.
TEST(WordSearch, ManyPartnersAtOnceWhereMessagesAreCheapToStart) {
  const std::vector<std::pair<double, double>> alpha_beta(4, {1.0, 1e-3});
  auto profile = without_contention(alpha_beta);
  const std::vector<std::int64_t> sizes{1, 100000};
  EXPECT_EQ(search_words(Operation::broadcast, 16, profile, sizes, 16)[0].radices, (std::vector<int>(4, 2)));
  for (auto& level : profile.levels) level.curves.push_back({"burst", 1, {}, {{{0, 0.01, 1e-3}}, 0}});
  const auto best = search_words(Operation::broadcast, 16, profile, sizes, 16);
  EXPECT_EQ(best[0].radices, std::vector<int>{16});
  EXPECT_GT(depth_of(best[1].word), 0);
  EXPECT_THROW(search_words(Operation::broadcast, 17, profile, sizes, 16), InputError);
  EXPECT_THROW(search_words(Operation::broadcast, 0, profile, sizes, 16), InputError);
}

TEST(WordSearch, AlsoWithoutWords) {
  const auto best = search_words(Operation::allgather, 16, machine::load_profile("altix3700bx2"),
                                 std::vector<std::int64_t>{1 << 20}, 16);
  EXPECT_GT(best[0].seconds, 0);
  EXPECT_TRUE(best[0].word.empty());
}

}  // namespace
}  // namespace ayatori::collectives
