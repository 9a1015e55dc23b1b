#include "ayatori/collectives/word_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "ayatori/base/error.hpp"
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

std::vector<std::vector<int>> ordered_factorizations(int number, int most) {
  if (number == 1) return {{}};
  std::vector<std::vector<int>> all;
  for (int factor = 2; factor <= std::min(number, most); ++factor) {
    if (number % factor != 0) continue;
    for (auto& rest : ordered_factorizations(number / factor, most)) {
      rest.insert(rest.begin(), factor);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

std::vector<WordChoice> search_words(Operation operation, int ranks, const machine::Profile& profile,
                                     std::span<const std::int64_t> sizes, int most_radix) {
  const bool has_words = type_of(operation).has_words;
  if (ranks < 1) throw InputError(fmt::format("{} ranks: at least one is needed", ranks));
  const auto all_radices = ordered_factorizations(ranks, most_radix);
  if (all_radices.empty())
    throw InputError(
        fmt::format("{} ranks have a prime factor above {}: no word is for them", ranks, most_radix));
  const auto price = [&](const Word& word, DigitOrder order, std::span<const int> radices) {
    const auto loads = loads_of(expand(make_plan(operation, ranks, word, order, radices)), profile);
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
  for (const auto& radices : all_radices) {
    const auto words = has_words ? worthwhile_words(static_cast<int>(radices.size())) : std::vector<Word>(1);
    for (const DigitOrder order : {DigitOrder::near_first, DigitOrder::far_first}) {
      for (const Word& word : words) {
        const auto seconds = price(word, order, radices);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          if (seconds[i] >= best[i].seconds) continue;
          best[i].seconds = seconds[i];
          best[i].word = word;
          best[i].order = order;
          best[i].radices = radices;
        }
      }
    }
  }
  if (!has_words || !std::has_single_bit(static_cast<unsigned>(ranks))) return best;
  const int digits = std::countr_zero(static_cast<unsigned>(ranks));
  const std::vector<int> binary(digits, 2);
  const auto binomial = price(hybrid1(digits, 0), DigitOrder::near_first, binary);
  const auto rabenseifner = price(hybrid1(digits, digits), DigitOrder::near_first, binary);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    best[i].binomial_seconds = binomial[i];
    best[i].rabenseifner_seconds = rabenseifner[i];
  }
  return best;
}

}  // namespace ayatori::collectives
