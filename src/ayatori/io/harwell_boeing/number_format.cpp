#include "ayatori/io/harwell_boeing/number_format.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/number.hpp"

namespace ayatori::io::harwell_boeing {

namespace {

constexpr std::string_view letters_of_integers = "I";
constexpr std::string_view letters_of_values = "FEDGI";
constexpr std::string_view letters_of_exponents = "eEdD";

/// Parses "(" [kP[,]] [r] (letter w [.d[Ee]] | nested group) ")"; within a nested group, nX may stand before
/// a single field, which it makes wider: (4(1X,E19.12)). Blanks are gone and letters upper case.
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
                                 letters_ == letters_of_integers ? "(16I5)" : "(10F8.2) or (1P,4D20.12)",
                                 longest_line));
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
    const int blanks = depth > 0 && take('X') ? repeat : 0;
    if (blanks > 0) {
      require(take(','));
      repeat = 1;
    }
    const int fields = peek() == '(' ? repeat * std::min(group(depth + 1), longest_line) : repeat;
    if (rest_[at_ - 1] != ')') edit_descriptor();
    format_.width += blanks;
    require(fields <= longest_line && take(')'));
    return fields;
  }

  /// D20.12, E26.18E3, F8, I5; of I5.3 the 3 says how many digits were written at least
  void edit_descriptor() {
    require(peek() != '\0' && letters_.find(peek()) != std::string_view::npos);
    format_.integer = peek() == 'I';
    format_.exponential = peek() != 'I' && peek() != 'F';
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

/// What Fortran adds to the exponent that a number has or has not. Not so in a field such as E20.12 whose
/// number has neither point nor exponent, and fewer digits than the format puts behind the point: no Fortran
/// program wrote it, but printf("%20.12g"), as from MATLAB, and it means what it says.
int implied_exponent(std::string_view mantissa, bool has_exponent, const NumberFormat& format) {
  const bool has_point = mantissa.find('.') != std::string_view::npos;
  const bool is_printed = format.exponential && !has_point && !has_exponent &&
                          mantissa.size() <= static_cast<std::size_t>(format.decimals);
  if (is_printed) return 0;
  return (has_point ? 0 : -format.decimals) - (has_exponent ? 0 : format.scale);
}

/// A real without the blanks around it.
struct RealParts {
  std::string_view mantissa;
  std::string_view exponent;  ///< with its sign, if has_exponent
  bool has_exponent = false;
  bool has_letter = false;
};

RealParts split_real(std::string_view number) {
  const auto letter = number.find_first_of(letters_of_exponents);
  // An exponent of three digits leaves no room for its letter: 1.0-101.
  const auto sign = number.find_first_of("+-", 1);
  const auto end = std::min(letter, sign);
  if (end == std::string_view::npos) return {number, {}, false, false};
  return {number.substr(0, end), number.substr(sign < letter ? sign : letter + 1), true,
          letter != std::string_view::npos};
}

bool is_sign(char c) {
  return c == '+' || c == '-';
}

/// Where the number that begins at `begin` ends.
std::size_t end_of_number(std::string_view line, std::size_t begin) {
  bool has_point = false;
  bool has_letter = false;
  std::size_t end = begin;
  for (; end < line.size() && line[end] != ' ' && line[end] != '\t'; ++end) {
    const bool follows_digit = end > begin && (is_digit(line[end - 1]) || line[end - 1] == '.');
    if (is_sign(line[end]) && follows_digit && (has_letter || !has_point)) break;
    has_point = has_point || line[end] == '.';
    has_letter = has_letter || letters_of_exponents.find(line[end]) != std::string_view::npos;
  }
  return end;
}

}  // namespace

NumberFormat parse_integer_format(std::string_view text) {
  return FormatParser(text, letters_of_integers).parse();
}

NumberFormat parse_value_format(std::string_view text) {
  return FormatParser(text, letters_of_values).parse();
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

double parse_value_field(std::string_view field, const NumberFormat& format) {
  if (format.integer) return static_cast<double>(parse_integer_field(field));
  const auto number = trimmed(field);
  const auto parts = split_real(number);
  const int implied = implied_exponent(parts.mantissa, parts.has_exponent, format);
  if (implied == 0 && parts.has_exponent == parts.has_letter && number.find(' ') == std::string_view::npos)
    return parse_decimal(number, number);
  std::int64_t exponent = 0;
  if (parts.has_exponent) {
    exponent = parse_integer_field(parts.exponent);
    constexpr std::int64_t beyond_all_doubles = 100000;
    exponent = std::clamp(exponent, -beyond_all_doubles, beyond_all_doubles);
  }
  return parse_decimal(fmt::format("{}e{}", parts.mantissa, exponent + implied), number);
}

bool needs_format(std::string_view field, const NumberFormat& format) {
  if (format.integer) return false;
  const auto parts = split_real(trimmed(field));
  return implied_exponent(parts.mantissa, parts.has_exponent, format) != 0;
}

std::vector<std::string_view> split_numbers(std::string_view line) {
  constexpr std::string_view blanks = " \t";
  std::vector<std::string_view> numbers;
  auto begin = line.find_first_not_of(blanks);
  while (begin < line.size()) {
    const auto end = end_of_number(line, begin);
    numbers.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(blanks, end);
  }
  return numbers;
}

}  // namespace ayatori::io::harwell_boeing
