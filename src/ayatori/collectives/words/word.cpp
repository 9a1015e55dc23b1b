#include "ayatori/collectives/words/word.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ayatori/base/error.hpp"

namespace ayatori::collectives {

namespace {

/// Words that continue `word`, with this many digits left and splits open.
void continue_word(Word& word, int digits, int open, std::vector<Word>& words) {
  if (digits == 0 && open == 0) {
    words.push_back(word);
    return;
  }
  const auto go_on = [&](Letter letter, int digits_left, int open_then) {
    word.push_back(letter);
    continue_word(word, digits_left, open_then, words);
    word.pop_back();
  };
  if (digits > 0) {
    go_on(Letter::copy, digits - 1, open);
    go_on(Letter::split, digits - 1, open + 1);
  }
  if (open > 0) go_on(Letter::merge, digits, open - 1);
}

}  // namespace

std::string to_string(const Word& word) {
  std::string text;
  for (const Letter letter : word) text.insert(text.begin(), static_cast<char>(letter));
  return text;
}

Word parse_word(std::string_view text) {
  Word word;
  int open = 0;
  for (const char letter : text) {
    if (letter != 'C' && letter != 'S' && letter != 'M')
      throw InputError(fmt::format("the word '{}': '{}' is none of C, S and M", text, letter));
    word.insert(word.begin(), static_cast<Letter>(letter));
  }
  for (const Letter letter : word) {
    if (letter == Letter::split) ++open;
    if (letter == Letter::merge && --open < 0)
      throw InputError(fmt::format("the word '{}', read from its end, merges what has not been split", text));
  }
  if (open > 0) throw InputError(fmt::format("the word '{}' leaves {} splits unmerged", text, open));
  return word;
}

int digits_of(const Word& word) {
  return static_cast<int>(std::ranges::count_if(word, [](Letter letter) { return letter != Letter::merge; }));
}

int depth_of(const Word& word) {
  int open = 0;
  int depth = 0;
  for (const Letter letter : word) {
    if (letter == Letter::split) depth = std::max(depth, ++open);
    if (letter == Letter::merge) --open;
  }
  return depth;
}

std::vector<Word> hybrid2_words(int digits) {
  if (digits < 0 || digits > most_digits)
    throw InputError(fmt::format("words of {} digits: choose 0 to {}", digits, most_digits));
  std::vector<Word> words;
  Word word;
  continue_word(word, digits, 0, words);
  std::ranges::sort(words, {}, to_string);
  return words;
}

Word hybrid1(int digits, int splits) {
  Word word(splits, Letter::split);
  word.insert(word.end(), digits - splits, Letter::copy);
  word.insert(word.end(), splits, Letter::merge);
  return word;
}

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

}  // namespace ayatori::collectives
