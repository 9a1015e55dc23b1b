#include "ayatori/io/harwell_boeing/header.hpp"

#include <algorithm>
#include <vector>

#include "ayatori/io/harwell_boeing.hpp"

namespace ayatori::io {

namespace harwell_boeing {

namespace {

constexpr std::string_view blanks = " \t\r\n";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (line.empty()) return words;
    words.push_back(line.substr(0, line.find_first_of(blanks)));
    line.remove_prefix(words.back().size());
  }
}

std::int64_t parse_count(std::string_view word) {
  const std::int64_t count = parse_integer_field(word);
  if (count < 0) throw InputError(fmt::format("{} is negative", count));
  return count;
}

/// The second line: counts of lines, of which those of the values and of the right-hand sides say whether
/// there are any.
struct LineCounts {
  std::int64_t values = 0;
  std::int64_t right_hand_sides = 0;
};

LineCounts parse_line_counts(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() != 4 && words.size() != 5) {
    throw InputError("four or five counts of lines are expected: total, pointers, indices, values[, rhs]");
  }
  std::vector<std::int64_t> counts;
  counts.reserve(words.size());
  for (const auto word : words) counts.push_back(parse_count(word));
  return {counts[3], counts.size() == 5 ? counts[4] : 0};
}

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

void parse_type(std::string_view word, Header& header) {
  const auto is = [&](std::size_t k, char letter) { return upper(word[k]) == letter; };
  if (word.size() != 3) throw InputError(fmt::format("{} is no matrix type like RUA", in_quotes(word)));
  if (is(2, 'E')) {
    throw InputError(
        fmt::format("type {}: elemental matrices are not supported: assemble it first", in_quotes(word)));
  }
  const bool known = (is(0, 'R') || is(0, 'C') || is(0, 'I') || is(0, 'P')) &&
                     (is(1, 'U') || is(1, 'S') || (is(1, 'H') && is(0, 'C')) || is(1, 'Z') || is(1, 'R')) &&
                     is(2, 'A');
  if (!known) {
    throw InputError(
        fmt::format("type {}: known are R, C, I or P (real, complex, integer, pattern), then U, S, Z or R "
                    "(unsymmetric, symmetric, skew, rectangular), or, of complex ones, H (hermitian), then A "
                    "(assembled)",
                    in_quotes(word)));
  }
  header.pattern = is(0, 'P');
  header.is_complex = is(0, 'C');
  header.symmetry = is(1, 'S')   ? Symmetry::symmetric
                    : is(1, 'H') ? Symmetry::hermitian
                    : is(1, 'Z') ? Symmetry::skew
                                 : Symmetry::general;
}

void parse_type_and_sizes(std::string_view line, const ByteSource& source, Header& header) {
  const auto words = words_of(line);
  if (words.size() != 4 && words.size() != 5) {
    throw InputError("the type and three or four sizes are expected: rows, columns, entries[, elements]");
  }
  parse_type(words[0], header);
  header.rows = parse_count(words[1]);
  header.columns = parse_count(words[2]);
  header.entries = parse_count(words[3]);
  if (header.rows == 0 || header.columns == 0) {
    throw InputError(fmt::format("the matrix is empty ({} x {})", header.rows, header.columns));
  }
  if (header.symmetry != Symmetry::general && header.rows != header.columns) {
    throw InputError(fmt::format("{} x {} is not square, as type {} requires", header.rows, header.columns,
                                 in_quotes(words[0])));
  }
  // Every pointer and index has a character at least.
  const std::int64_t most = most_content(source);
  if (header.columns > most || header.entries > most || header.rows > most_rows(source)) {
    throw InputError(fmt::format("{} x {} with {} entries cannot be in a file of {} bytes", header.rows,
                                 header.columns, header.entries, source.size()));
  }
}

/// The parenthesised groups of the fourth line, which may hold blanks themselves.
std::vector<std::string_view> formats_of(std::string_view line) {
  std::vector<std::string_view> formats;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (line[k] == '(' && depth++ == 0) begin = k;
    if (line[k] == ')' && depth > 0 && --depth == 0) formats.push_back(line.substr(begin, k + 1 - begin));
  }
  return formats;
}

void parse_formats(std::string_view line, Header& header) {
  const auto formats = formats_of(line);
  const std::size_t needed = header.pattern ? 2 : 3;
  if (formats.size() < needed) {
    throw InputError(fmt::format("{} formats in parentheses are expected: pointers, indices{}", needed,
                                 header.pattern ? "" : ", values"));
  }
  header.pointer_format = parse_integer_format(formats[0]);
  header.index_format = parse_integer_format(formats[1]);
  if (!header.pattern) header.value_format = parse_value_format(formats[2]);
}

}  // namespace

InputError error_at(const ByteSource& source, const Lines& lines, std::string_view what) {
  return InputError(fmt::format("{}, line {}: {}", source.name(), lines.number(), what));
}

Header read_header(const ByteSource& source, Lines& lines) {
  std::string line;
  const auto next = [&] {
    if (!lines.next(line)) throw InputError("the file ends here, within its header");
  };
  try {
    Header header;
    next();  // the title
    next();
    const LineCounts counts = parse_line_counts(line);
    next();
    parse_type_and_sizes(line, source, header);
    if (!header.pattern && header.entries > 0 && counts.values == 0) {
      throw InputError("the type promises values, but the second line says that none are stored");
    }
    next();
    parse_formats(line, header);
    header.right_hand_sides = counts.right_hand_sides > 0;
    if (header.right_hand_sides) next();
    return header;
  } catch (const InputError& error) {
    throw error_at(source, lines, error.what());
  }
}

}  // namespace harwell_boeing

bool looks_like_harwell_boeing(std::string_view first_bytes) {
  std::vector<std::string_view> lines;
  while (lines.size() < 4 && !first_bytes.empty()) {
    lines.push_back(first_bytes.substr(0, first_bytes.find('\n')));
    first_bytes.remove_prefix(std::min(lines.back().size() + 1, first_bytes.size()));
  }
  if (lines.size() < 4) return false;
  const auto is_number = [](std::string_view word) {
    return word.find_first_not_of("0123456789+-") == std::string_view::npos;
  };
  const auto counts = harwell_boeing::words_of(lines[1]);
  const auto sizes = harwell_boeing::words_of(lines[2]);
  return counts.size() >= 4 && std::ranges::all_of(counts, is_number) && sizes.size() >= 4 &&
         sizes[0].size() == 3 && std::all_of(sizes.begin() + 1, sizes.end(), is_number) &&
         lines[3].find('(') != std::string_view::npos;
}

}  // namespace ayatori::io
