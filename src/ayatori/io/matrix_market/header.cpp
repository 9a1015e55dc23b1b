#include "ayatori/io/matrix_market/header.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "ayatori/base/error.hpp"
#include "ayatori/io/header_lines.hpp"
#include "ayatori/io/matrix_market/words.hpp"
#include "ayatori/io/number.hpp"

namespace ayatori::io::matrix_market {

namespace {

/// A word of the banner and what it means.
template <class Meaning>
struct Word {
  std::string_view name;
  Meaning meaning;
};

constexpr std::array objects{Word<int>{"matrix", 0}};
constexpr std::array formats{Word<Format>{"coordinate", Format::coordinate},
                             Word<Format>{"array", Format::array}};
constexpr std::array fields{Word<Field>{"real", Field::real}, Word<Field>{"integer", Field::integer},
                            Word<Field>{"pattern", Field::pattern}, Word<Field>{"complex", Field::complex}};
constexpr std::array symmetries{
    Word<Symmetry>{"general", Symmetry::general}, Word<Symmetry>{"symmetric", Symmetry::symmetric},
    Word<Symmetry>{"skew-symmetric", Symmetry::skew}, Word<Symmetry>{"hermitian", Symmetry::hermitian}};

template <class Meaning, std::size_t n>
Meaning meaning_of(const std::array<Word<Meaning>, n>& list, const std::string& word, std::string_view what) {
  std::string known;
  for (const auto& item : list) {
    if (item.name == lower(word)) return item.meaning;
    known.append(known.empty() ? "" : ", ").append(item.name);
  }
  throw InputError(
      fmt::format("unknown {} {} in the banner, which may be: {}", what, in_quotes(word), known));
}

/// Reads "%%MatrixMarket object format field symmetry". Throws InputError without a place, like all below.
Header parse_banner(const std::string& line) {
  const auto words = words_of(without_byte_order_mark(line));
  if (words.empty() || lower(words[0]) != banner_word) {
    throw InputError("no Matrix Market banner: a line '%%MatrixMarket matrix ...' was expected");
  }
  if (words.size() != 5) {
    throw InputError(
        fmt::format("the banner has {} words, not the five of '%%MatrixMarket matrix coordinate real "
                    "general'",
                    words.size()));
  }
  meaning_of(objects, words[1], "object");
  Header header;
  header.format = meaning_of(formats, words[2], "format");
  header.field = meaning_of(fields, words[3], "field");
  header.symmetry = meaning_of(symmetries, words[4], "symmetry");
  if (header.field == Field::pattern && header.format == Format::array) {
    throw InputError("a pattern in array format has no data: pattern needs coordinate");
  }
  if (header.field == Field::pattern && header.symmetry == Symmetry::skew) {
    throw InputError("a skew-symmetric pattern is not defined: its entries would need a sign");
  }
  if (header.symmetry == Symmetry::hermitian && !header.is_complex()) {
    throw InputError("a hermitian matrix is complex: of one that is not, symmetric says the same");
  }
  return header;
}

std::int64_t parse_count(std::string word) {
  const std::string shown = in_quotes(word);
  word += '\n';
  const char* p = word.data();
  std::int64_t value = 0;
  const NumberFault fault = parse_integer(p, value);
  if (fault == NumberFault::too_large)
    throw InputError(fmt::format("{} in the size line is too large", shown));
  if (fault != NumberFault::none || *p != '\n') {
    throw InputError(fmt::format("{} in the size line, where a whole number belongs", shown));
  }
  if (value < 0) throw InputError(fmt::format("{} in the size line is negative", shown));
  return value;
}

/// Entries that an array file of this shape and symmetry stores.
std::int64_t stored_in_array(const Header& header) {
  const std::int64_t off_diagonal = header.symmetry == Symmetry::skew ? header.rows - 1 : header.rows + 1;
  std::int64_t product = 0;
  const bool general = header.symmetry == Symmetry::general;
  if (__builtin_mul_overflow(header.rows, general ? header.columns : off_diagonal, &product)) {
    throw InputError(fmt::format("{} x {} values are more than can be counted", header.rows, header.columns));
  }
  return general ? product : product / 2;
}

void parse_size_line(const std::string& line, Header& header) {
  const auto words = words_of(line);
  const bool coordinate = header.format == Format::coordinate;
  const std::size_t expected = coordinate ? 3 : 2;
  if (words.size() != expected) {
    throw InputError(fmt::format("the size line has {} word{}, not the {} of '{}'", words.size(),
                                 words.size() == 1 ? "" : "s", expected,
                                 coordinate ? "rows columns entries" : "rows columns"));
  }
  header.rows = parse_count(words[0]);
  header.columns = parse_count(words[1]);
  if (header.rows == 0 || header.columns == 0) {
    throw InputError(fmt::format("the matrix is empty ({} x {})", header.rows, header.columns));
  }
  if (header.symmetry != Symmetry::general && header.rows != header.columns) {
    throw InputError(
        fmt::format("{} x {} is not square, as the banner's symmetry requires", header.rows, header.columns));
  }
  header.entries = coordinate ? parse_count(words[2]) : stored_in_array(header);
}

/// Refuses sizes that the file cannot live up to, before anything is allocated for them.
void check_against_file_size(const ByteSource& source, const Header& header) {
  // A line of data has a character and its end; that shorter ones than the format needs are wrong is better
  // said by the line.
  constexpr std::int64_t shortest_line = 2;
  constexpr std::int64_t uncountable = std::numeric_limits<std::int64_t>::max();
  const std::int64_t content = most_content(source);
  const std::int64_t bytes = content == uncountable ? content - 1 : content - header.body;
  if (header.entries > (bytes + 1) / shortest_line) {
    throw InputError(
        fmt::format("{} entries are promised, but the file has room for at most {}: it is truncated or "
                    "the size line is wrong",
                    header.entries, (bytes + 1) / shortest_line));
  }
  if (std::max(header.rows, header.columns) > most_rows(source)) {
    throw InputError(fmt::format("{} x {} is out of all proportion to a file of {} bytes", header.rows,
                                 header.columns, source.size()));
  }
}

/// Skips comments and blank lines. False at the end of the file.
bool next_meaningful(HeaderLines& lines, std::string& line) {
  while (lines.next(line)) {
    const auto first = std::find_if_not(line.begin(), line.end(), is_blank);
    if (first != line.end() && *first != '%') return true;
  }
  return false;
}

}  // namespace

Header read_header(const ByteSource& source) {
  HeaderLines lines(source);
  std::string line;
  if (!lines.next(line)) throw InputError(source.name() + ": the file is empty");
  try {
    Header header = parse_banner(line);
    if (!next_meaningful(lines, line)) throw InputError("the file ends before the size line");
    parse_size_line(line, header);
    header.size_line = lines.number();
    header.body = lines.position();
    check_against_file_size(source, header);
    return header;
  } catch (const InputError& error) {
    throw InputError(located(source.name(), lines.number(), error.what()));
  }
}

std::string located(std::string_view name, std::int64_t line, std::string_view what) {
  return fmt::format("{}, line {}: {}", name, line, what);
}

}  // namespace ayatori::io::matrix_market
