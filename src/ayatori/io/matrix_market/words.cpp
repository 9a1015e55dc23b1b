#include "ayatori/io/matrix_market/words.hpp"

#include "ayatori/io/number.hpp"

namespace ayatori::io::matrix_market {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : line) {
    if (!is_blank(c)) {
      if (!inside) words.emplace_back();
      words.back() += c;
    }
    inside = !is_blank(c);
  }
  return words;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.substr(text.starts_with(mark) ? mark.size() : 0);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

}  // namespace ayatori::io::matrix_market
