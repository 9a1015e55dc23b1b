#include "ayatori/collectives/search/search.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/schedules/cost.hpp"
#include "ayatori/collectives/schedules/validate.hpp"

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

TEST(Search, PruningLeavesCatalanMany) {
  const std::vector<std::size_t> catalan{1, 2, 5, 14, 42, 132, 429};
  for (std::size_t digits = 1; digits <= catalan.size(); ++digits)
    EXPECT_EQ(worthwhile_words(static_cast<int>(digits)).size(), catalan[digits - 1]);
}

double cost(Operation operation, const Word& word, DigitOrder order, const machine::Profile& profile,
            double bytes, int ranks = 0) {
  const auto plan = make_plan(operation, ranks > 0 ? ranks : profile.ranks, word, order);
  const network::Hierarchy network(profile, plan.ranks);
  return predict_seconds(load_of(expand(plan), network), network, bytes);
}

/// A split that is merged at once moves what a copy moves, in two stages: never better, on any machine, at
/// any size.
TEST(Search, WhatIsPrunedIsNeverBetter) {
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
TEST(Search, Hybrid1SufficesWhereAllDistancesAreTheSame) {
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

SearchOptions words_only(int most_radix) {
  SearchOptions options;
  options.words_only = true;
  options.most_radix = most_radix;
  options.finalists = 0;
  return options;
}

/// Dynamic programming finds what trying every word finds.
TEST(Search, FindsTheLeast) {
  const auto profile = machine::load_profile("altix3700bx2");
  const std::vector<std::int64_t> sizes{8, 1 << 10, 1 << 13, 1 << 17, 1 << 26};
  for (const Operation operation : {Operation::allreduce, Operation::broadcast, Operation::reduce}) {
    const auto choices = search(operation, 16, profile, sizes, words_only(2));
    ASSERT_EQ(choices.size(), sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      double least = 1e300;
      for (const Word& word : hybrid2_words(4)) {
        for (const DigitOrder order : {DigitOrder::near_first, DigitOrder::far_first})
          least = std::min(least, cost(operation, word, order, profile, static_cast<double>(sizes[i]), 16));
      }
      const auto& best = choices[i].best();
      const network::Hierarchy network(profile, 16);
      const double exact =
          predict_seconds(load_of(expand(best.plan), network), network, static_cast<double>(sizes[i]));
      EXPECT_NEAR(exact, least, 0.01 * least) << describe(best.plan);
      EXPECT_NEAR(best.seconds, exact, 0.01 * exact) << describe(best.plan);
      EXPECT_GE(choices[i].binomial_seconds, least);
      EXPECT_GE(choices[i].rabenseifner_seconds, least);
    }
  }
  const auto choices = search(Operation::allreduce, 16, profile, sizes, words_only(2));
  EXPECT_EQ(to_string(choices[0].best().plan.word), "CCCC") << "short messages want few stages";
  EXPECT_GT(depth_of(choices.back().best().plan.word), 0) << "long ones want to be split";
}

/// Where starting a message costs next to nothing, short ones go to everybody at once; a small gap decides
/// how many.
TEST(Search, ManyPartnersAtOnceWhereMessagesAreCheapToStart) {
  const std::vector<std::pair<double, double>> alpha_beta(4, {1.0, 1e-3});
  auto profile = without_contention(alpha_beta);
  const std::vector<std::int64_t> sizes{1};
  EXPECT_EQ(search(Operation::broadcast, 16, profile, sizes, words_only(16))[0].best().plan.digits.size(),
            4U);
  for (auto& level : profile.levels) level.curves.push_back({"burst", 1, {}, {{{0, 0.01, 1e-3}}, 0}});
  const auto best = search(Operation::broadcast, 16, profile, sizes, words_only(16));
  EXPECT_EQ(best[0].best().plan.digits, (std::vector<Digit>{{1, 16}}));
  EXPECT_THROW(search(Operation::broadcast, 17, profile, sizes), InputError);
  EXPECT_THROW(search(Operation::broadcast, 0, profile, sizes), InputError);
  EXPECT_THROW(search(Operation::broadcast, 11, profile, sizes, words_only(4)), InputError);
}

/// Where neighbours on rings are near, nobody talks to the other side of one: trees of binary digits do.
TEST(Search, FindsTheRingsOfATorus) {
  auto profile = machine::load_profile("pc-cluster-gbe");
  constexpr int side = 4;
  constexpr int ranks = side * side;
  profile.ranks = ranks;
  profile.node_of_rank.assign(ranks, 0);
  profile.levels.resize(1);
  profile.levels.front().structure.group_of.assign(ranks, 0);
  const auto hops = [](int a, int b) { return std::min(std::abs(a - b), side - std::abs(a - b)); };
  for (int a = 0; a < ranks; ++a) {
    for (int b = 0; b < a; ++b)
      profile.pairs.push_back({b, a, 1e-4 * (hops(a % side, b % side) + hops(a / side, b / side))});
  }
  SearchOptions options;
  options.most_radix = 2;
  const auto best =
      search(Operation::broadcast, ranks, profile, std::vector<std::int64_t>{8}, options).front().best();
  const auto schedule = expand(best.plan);
  for (int rank = 0; rank < ranks; ++rank) {
    for (const Step& step : schedule.steps[rank])
      EXPECT_EQ(hops(rank % side, step.peer % side) + hops(rank / side, step.peer / side), 1)
          << describe(best.plan);
  }
}

/// Long broadcasts along a chain take the time of one message and a little, in any order of ranks.
TEST(Search, LongMessagesGoInSegments) {
  const auto profile = without_contention(std::vector<std::pair<double, double>>(3, {1e-6, 1e-9}));
  const double bytes = 1 << 24;
  const auto best = search(Operation::broadcast, 8, profile, std::vector<std::int64_t>{1 << 24})[0].best();
  EXPECT_GT(best.plan.segmentation.segments, 10) << describe(best.plan);
  EXPECT_LT(best.seconds, 1.1 * (bytes * 1e-9));
  EXPECT_FALSE(find_violation(expand(best.plan)));
}

/// Any number of ranks, every operation, every size: what is found is right.
TEST(Search, WhatIsFoundIsCorrect) {
  const auto profile = machine::load_profile("altix3700bx2");
  const std::vector<std::int64_t> sizes{8, 1 << 12, 1 << 22};
  SearchOptions options;
  options.finalists = 5;
  for (const int ranks : {1, 2, 7, 12, 13, 16, 36}) {
    for (const auto& type : operations()) {
      for (const auto& choice : search(type.operation, ranks, profile, sizes, options)) {
        for (const auto& candidate : choice.finalists) {
          const auto violation = find_violation(expand(candidate.plan));
          EXPECT_FALSE(violation) << type.name << " on " << ranks << ", " << describe(candidate.plan) << ": "
                                  << violation.value_or("");
          EXPECT_TRUE(ranks == 1 || candidate.seconds > 0);
        }
      }
    }
  }
}

/// What takes over where does so without a cliff: a little more to send takes a little more time.
TEST(Search, TimesAreContinuousInSize) {
  const auto profile = machine::load_profile("pc-cluster-gbe");
  std::vector<std::int64_t> sizes;
  for (double bytes = 8; bytes < 1 << 22; bytes *= 1.1) sizes.push_back(static_cast<std::int64_t>(bytes));
  SearchOptions options;
  options.finalists = 0;
  for (const Operation operation : {Operation::broadcast, Operation::allreduce, Operation::allgather}) {
    const auto choices = search(operation, 8, profile, sizes, options);
    for (std::size_t i = 1; i < choices.size(); ++i) {
      EXPECT_GE(choices[i].best().seconds, choices[i - 1].best().seconds * 0.999) << choices[i].bytes;
      EXPECT_LE(choices[i].best().seconds, choices[i - 1].best().seconds * 1.15) << choices[i].bytes;
    }
  }
}

TEST(Search, KeepsTheOrderOfOperands) {
  const auto profile = machine::load_profile("altix3700bx2");
  const std::vector<std::int64_t> sizes{8, 1 << 14, 1 << 22};
  SearchOptions options;
  options.keeps_order = true;
  for (const Operation operation : {Operation::allreduce, Operation::reduce, Operation::reduce_scatter}) {
    for (const auto& choice : search(operation, 12, profile, sizes, options)) {
      for (const auto& candidate : choice.finalists)
        EXPECT_TRUE(reduction_order(expand(candidate.plan)).keeps_ranks) << describe(candidate.plan);
    }
  }
}

/// The same sums of the same terms for all sizes.
TEST(Search, ReproducibleResultsForAllSizes) {
  const auto profile = machine::load_profile("altix3700bx2");
  const std::vector<std::int64_t> sizes{8, 1 << 10, 1 << 14, 1 << 22};
  SearchOptions options;
  options.reproducible = true;
  std::optional<std::uint64_t> tree;
  std::set<std::string> words;
  for (const auto& choice : search(Operation::allreduce, 24, profile, sizes, options)) {
    for (const auto& candidate : choice.finalists) {
      const auto order = reduction_order(expand(candidate.plan));
      ASSERT_TRUE(order.tree) << describe(candidate.plan);
      if (!tree) tree = order.tree;
      EXPECT_EQ(*order.tree, *tree) << describe(candidate.plan);
    }
    words.insert(to_string(choice.best().plan.word));
  }
  EXPECT_GT(words.size(), 1U) << "short and long ones are not done alike";
}

/// Where both ports of a node carried the same, stripes are meant for them in turns.
TEST(Search, StripesAreGivenRails) {
  auto profile = machine::load_profile("altix3700bx2");
  profile.node_of_rank.clear();
  for (int rank = 0; rank < profile.ranks; ++rank) profile.node_of_rank.push_back(rank / 2);
  const std::vector<std::int64_t> sizes{1 << 21};
  SearchOptions options;
  options.finalists = 4;
  const auto striped = [&] {
    std::vector<int> rails;
    const auto choices = search(Operation::broadcast, 8, profile, sizes, options);
    for (const auto& candidate : choices.front().finalists) {
      if (candidate.plan.stripes > 1) rails.push_back(candidate.plan.rails);
      EXPECT_EQ(find_violation(expand(candidate.plan)), std::nullopt);
    }
    return rails;
  };
  const auto alone = striped();
  ASSERT_FALSE(alone.empty());
  EXPECT_EQ(std::ranges::count(alone, 1), std::ssize(alone));
  profile.ports = {{"first", 0, 1 << 20}, {"second", 0, 1 << 20}};
  EXPECT_GT(std::ranges::count(striped(), 2), 0);
}

}  // namespace
}  // namespace ayatori::collectives
