#include "ayatori/base/error.hpp"
#include "ayatori/io/complex_parts.hpp"
#include "ayatori/io/matrix_market/parse.hpp"
#include "ayatori/io/matrix_market/words.hpp"
#include "ayatori/io/number.hpp"

namespace ayatori::io::matrix_market {

namespace {

/// What is wrong with a word that should be an index from 1 to `most`; empty if nothing. `index` becomes its
/// value.
std::string explain_index(const std::string& word, std::string_view what, std::int64_t most,
                          std::int64_t& index) {
  const std::string text = word + '\n';
  const char* p = text.data();
  const NumberFault fault = parse_integer(p, index);
  if (fault == NumberFault::not_a_number || *p != '\n') {
    return fmt::format("{} where a {} number belongs", in_quotes(word), what);
  }
  if (fault == NumberFault::none && 1 <= index && index <= most) return "";
  return fmt::format("{} {} is out of range 1 to {}", what, word.substr(0, 40), most);
}

std::string explain_value(const std::string& word, Field field) {
  const std::string text = word + '\n';
  const char* p = text.data();
  double value = 0;
  const NumberFault fault = field == Field::integer ? parse_integer_value(p, text.data() + text.size(), value)
                                                    : parse_real(p, text.data() + text.size(), value);
  if (fault == NumberFault::not_finite) return fmt::format("the value {} is not finite", in_quotes(word));
  if (fault == NumberFault::too_large)
    return fmt::format("the value {} is too large for a double", in_quotes(word));
  if (fault == NumberFault::none && *p == '\n') return "";
  return fmt::format("{} where {} belongs", in_quotes(word),
                     field == Field::integer ? "an integer value" : "a value");
}

/// Words of a line of data, by name.
std::string form_of(const Header& header) {
  const bool coordinate = header.format == Format::coordinate;
  const char* const value = header.is_complex() ? "real imaginary" : "value";
  if (header.field == Field::pattern) return "row column";
  return fmt::format("{}{}", coordinate ? "row column " : "", value);
}

}  // namespace

std::string complex_diagonal(std::int64_t row) {
  return fmt::format("an imaginary part on the diagonal (row {}), which is real in a hermitian matrix", row);
}

std::string explain(const Header& header, std::string_view line) {
  const auto words = words_of(line);
  const bool coordinate = header.format == Format::coordinate;
  const std::size_t places = coordinate ? 2 : 0;
  const std::size_t expected = places + (header.field == Field::pattern ? 0 : parts_of(header.is_complex()));
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::string what;
  if (coordinate && !words.empty()) what = explain_index(words[0], "row", header.rows, row);
  if (what.empty() && coordinate && words.size() > 1) {
    what = explain_index(words[1], "column", header.columns, column);
  }
  for (std::size_t k = places; what.empty() && k < expected && words.size() >= expected; ++k)
    what = explain_value(words[k], header.field);
  if (!what.empty()) return what;
  if (words.size() != expected) {
    return fmt::format("{} words on the line, not the {} of '{}'", words.size(), expected, form_of(header));
  }
  if (header.symmetry == Symmetry::skew && row == column) {
    return fmt::format("a nonzero on the diagonal (row {}), which is zero in a skew-symmetric matrix", row);
  }
  if (header.symmetry == Symmetry::hermitian && row == column) return complex_diagonal(row);
  return fmt::format("{} cannot be read", in_quotes(line));
}

}  // namespace ayatori::io::matrix_market
