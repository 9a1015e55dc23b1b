#include "ayatori/collectives/word_search.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "ayatori/collectives/cost.hpp"

namespace ayatori::collectives {

std::vector<Word> worthwhile_words(int digits) {
  auto words = hybrid2_words(digits);
  std::erase_if(words, [](const Word& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      if (word[i - 1] == Letter::split && word[i] == Letter::merge) return true;
    }
    return false;
  });
  return words;
}

std::vector<WordChoice> search_words(Operation operation, int ranks, const machine::Profile& profile,
                                     std::span<const std::int64_t> sizes) {
  const bool has_words = type_of(operation).has_words;
  const int digits = ranks > 0 ? std::bit_width(static_cast<unsigned>(ranks)) - 1 : 0;
  const auto price = [&](const Word& word, DigitOrder order) {
    const auto loads = loads_of(expand(make_plan(operation, ranks, word, order)), profile);
    std::vector<double> seconds;
    for (const auto bytes : sizes)
      seconds.push_back(predict_seconds(loads, profile, static_cast<double>(bytes)));
    return seconds;
  };
  std::vector<WordChoice> best(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    best[i].bytes = sizes[i];
    best[i].seconds = std::numeric_limits<double>::infinity();
  }
  const auto words = has_words ? worthwhile_words(digits) : std::vector<Word>(1);
  for (const DigitOrder order : {DigitOrder::near_first, DigitOrder::far_first}) {
    for (const Word& word : words) {
      const auto seconds = price(word, order);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (seconds[i] >= best[i].seconds) continue;
        best[i].seconds = seconds[i];
        best[i].word = word;
        best[i].order = order;
      }
    }
  }
  if (!has_words) return best;
  const auto binomial = price(hybrid1(digits, 0), DigitOrder::near_first);
  const auto rabenseifner = price(hybrid1(digits, digits), DigitOrder::near_first);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    best[i].binomial_seconds = binomial[i];
    best[i].rabenseifner_seconds = rabenseifner[i];
  }
  return best;
}

}  // namespace ayatori::collectives
