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
  const auto best = search_words(Operation::allreduce, 16, profile, sizes);
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

TEST(WordSearch, AlsoWithoutWords) {
  const auto best = search_words(Operation::allgather, 16, machine::load_profile("altix3700bx2"),
                                 std::vector<std::int64_t>{1 << 20});
  EXPECT_GT(best[0].seconds, 0);
  EXPECT_TRUE(best[0].word.empty());
}

}  // namespace
}  // namespace ayatori::collectives
