#include "ayatori/io/harwell_boeing/number_format.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/number.hpp"

namespace ayatori::io::harwell_boeing {

namespace {

/// Parses "(" [kP[,]] [r] (letter w [.d[Ee]] | nested group) ")". Blanks are gone and letters upper case.
class FormatParser {
 public:
  FormatParser(std::string_view text, std::string_view letters) : text_(text), letters_(letters) {
    for (const char c : text) {
      if (c == ' ') continue;
      rest_ += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
  }

  NumberFormat parse() {
    const int per_line = group(0);
    require(at_ == rest_.size());
    format_.per_line = per_line;
    require(per_line > 0 && format_.width > 0 && format_.width <= longest_line / per_line);
    return format_;
  }

 private:
  void require(bool good) const {
    if (good) return;
    throw InputError(fmt::format("{} is not a format like {} of lines up to {} characters", in_quotes(text_),
                                 letters_ == "I" ? "(16I5)" : "(10F8.2) or (1P,4D20.12)", longest_line));
  }

  char peek() const { return at_ < rest_.size() ? rest_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  int number() {
    constexpr int most = 9999;
    require(is_digit(peek()));
    int value = 0;
    while (is_digit(peek())) {
      value = 10 * value + (rest_[at_++] - '0');
      require(value <= most);
    }
    return value;
  }

  /// A parenthesised group; gives the fields in it.
  int group(int depth) {
    constexpr int deepest = 4;
    require(depth < deepest && take('('));
    int repeat = 1;
    const bool negative = take('-');
    if (negative || is_digit(peek())) repeat = number();
    if (take('P')) {
      format_.scale = negative ? -repeat : repeat;
      take(',');
      repeat = is_digit(peek()) ? number() : 1;
    } else {
      require(!negative);
    }
    const int fields = peek() == '(' ? repeat * std::min(group(depth + 1), longest_line) : repeat;
    if (rest_[at_ - 1] != ')') edit_descriptor();
    require(fields <= longest_line && take(')'));
    return fields;
  }

  /// D20.12, E26.18E3, F8, I5
  void edit_descriptor() {
    require(peek() != '\0' && letters_.find(peek()) != std::string_view::npos);
    ++at_;
    format_.width = number();
    if (take('.')) format_.decimals = number();
    if (take('E')) number();
  }

  std::string_view text_;
  std::string_view letters_;
  std::string rest_;
  std::size_t at_ = 0;
  NumberFormat format_;
};

std::string_view trimmed(std::string_view field) {
  constexpr const char* blanks = " \t";
  const auto first = field.find_first_not_of(blanks);
  if (first == std::string_view::npos) throw InputError("a number is missing: its field is blank");
  return field.substr(first, field.find_last_not_of(blanks) - first + 1);
}

double parse_decimal(std::string_view number, std::string_view field) {
  std::string text(number);
  text += '\n';
  const char* position = text.data();
  double value = 0;
  const NumberFault fault = parse_real(position, text.data() + text.size(), value);
  if (fault == NumberFault::not_a_number || *position != '\n') {
    throw InputError(fmt::format("{} is not a number", in_quotes(field)));
  }
  if (fault != NumberFault::none) {
    throw InputError(
        fmt::format("{} is infinite, not a number, or too large for a double", in_quotes(field)));
  }
  return value;
}

/// What Fortran adds to the exponent that a number has or has not.
int implied_exponent(std::string_view mantissa, bool has_exponent, const NumberFormat& format) {
  const bool has_point = mantissa.find('.') != std::string_view::npos;
  return (has_point ? 0 : -format.decimals) - (has_exponent ? 0 : format.scale);
}

}  // namespace

NumberFormat parse_integer_format(std::string_view text) {
  return FormatParser(text, "I").parse();
}

NumberFormat parse_real_format(std::string_view text) {
  return FormatParser(text, "FEDG").parse();
}

std::int64_t parse_integer_field(std::string_view field) {
  auto number = trimmed(field);
  if (number.size() > 1 && number.front() == '+' && is_digit(number[1])) number.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || end != number.data() + number.size()) {
    throw InputError(fmt::format("{} is not a whole number{}", in_quotes(trimmed(field)),
                                 error == std::errc::result_out_of_range ? " below 2^63" : ""));
  }
  return value;
}

double parse_real_field(std::string_view field, const NumberFormat& format) {
  const auto number = trimmed(field);
  const auto letter = number.find_first_of("eEdD");
  // An exponent of three digits leaves no room for its letter: 1.0-101.
  const auto sign = number.find_first_of("+-", 1);
  const auto mantissa = number.substr(0, std::min(letter, sign));
  const bool has_exponent = mantissa.size() < number.size();
  const int implied = implied_exponent(mantissa, has_exponent, format);
  if (implied == 0 && (!has_exponent || letter != std::string_view::npos) &&
      number.find(' ') == std::string_view::npos) {
    return parse_decimal(number, number);
  }
  std::int64_t exponent = 0;
  if (has_exponent) {
    exponent = parse_integer_field(number.substr(sign < letter ? sign : letter + 1));
    constexpr std::int64_t beyond_all_doubles = 100000;
    exponent = std::clamp(exponent, -beyond_all_doubles, beyond_all_doubles);
  }
  return parse_decimal(fmt::format("{}e{}", mantissa, exponent + implied), number);
}

}  // namespace ayatori::io::harwell_boeing
