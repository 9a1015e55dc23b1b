#include "ayatori/io/matrix_market/parse.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "ayatori/io/complex_parts.hpp"
#include "ayatori/io/number.hpp"

namespace ayatori::io::matrix_market {

namespace {

const char* line_end(const char* p, const char* end) {
  return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
}

template <Field field>
constexpr std::int64_t parts = parts_of(field == Field::complex);

/// A number, or the two of a complex value.
template <Field field>
using Value = std::array<double, parts<field>>;

/// Reads a value at `p`; false if it is none.
template <Field field>
bool parse_value(const char*& p, const char* end, Value<field>& value) {
  const NumberFault fault =
      field == Field::integer ? parse_integer_value(p, end, value[0]) : parse_real(p, end, value[0]);
  if (fault != NumberFault::none) return false;
  if constexpr (field == Field::complex) {
    if (!is_blank(*p)) return false;
    p = skip_blanks(p);
    return parse_real(p, end, value[1]) == NumberFault::none;
  }
  return true;
}

/// Parses the lines of one kind of file: everything that is the same for all lines is a template argument.
template <Field field, Symmetry symmetry>
class CoordinateParser {
 public:
  CoordinateParser(const Header& header, const char* end, Piece& piece)
      : rows_(static_cast<std::uint64_t>(header.rows)),
        columns_(static_cast<std::uint64_t>(header.columns)),
        end_(end),
        next_(piece.entries.data()) {}

  /// Entries that a line can give.
  static constexpr std::int64_t entries_per_line = (symmetry == Symmetry::general ? 1 : 2) * parts<field>;

  /// Reads "row column [value [imaginary part]]" at `p`, up to the line end; false if that is not what the
  /// line says.
  bool line(const char*& p) {
    std::int64_t row = 0;
    std::int64_t column = 0;
    Value<field> value{1};
    if (!parse_index(p, row) || !is_blank(*p)) return false;
    p = skip_blanks(p);
    if (!parse_index(p, column)) return false;
    if constexpr (field != Field::pattern) {
      if (!is_blank(*p)) return false;
      p = skip_blanks(p);
      if (!parse_value<field>(p, end_, value)) return false;
    }
    p = skip_blanks(p);
    --row;
    --column;
    if (*p != '\n' || static_cast<std::uint64_t>(row) >= rows_ ||
        static_cast<std::uint64_t>(column) >= columns_) {
      return false;
    }
    return store(row, column, value);
  }

  /// Notes on which side of the diagonal the entry stored last is.
  void note_side(std::int64_t offset, Piece& piece) const {
    if constexpr (symmetry != Symmetry::general) {
      if (side_ == 0) return;
      std::int64_t& first = side_ > 0 ? piece.first_below : piece.first_above;
      first = std::min(first, offset);
    }
  }

  const sparse::Entry* end_of_entries() const { return next_; }

 private:
  bool store(std::int64_t row, std::int64_t column, const Value<field>& value) {
    for (std::int64_t part = 0; part < parts<field>; ++part)
      *next_++ = {row, parts<field> * column + part, value[part]};
    if constexpr (symmetry != Symmetry::general) {
      side_ = (row > column) - (row < column);
      if (side_ == 0) return is_on_diagonal(value);
      for (std::int64_t part = 0; part < parts<field>; ++part)
        *next_++ = {column, parts<field> * row + part, mirrored(symmetry, part, value[part])};
    }
    return true;
  }

  /// Whether a value is its own mirror image.
  static bool is_on_diagonal(const Value<field>& value) {
    for (std::int64_t part = 0; part < parts<field>; ++part)
      if (mirrored(symmetry, part, value[part]) != value[part]) return false;
    return true;
  }

  std::uint64_t rows_;
  std::uint64_t columns_;
  const char* end_;
  sparse::Entry* next_;
  int side_ = 0;
};

/// Parses the lines of an array file: one value each, which rank and place follow from the number of the
/// line.
template <Field field>
class ArrayParser {
 public:
  ArrayParser(const Header&, const char* end, Piece& piece)
      : end_(end), first_(piece.entries.data()), next_(first_) {}

  static constexpr std::int64_t entries_per_line = parts<field>;

  bool line(const char*& p) {
    Value<field> value{};
    if (!parse_value<field>(p, end_, value)) return false;
    p = skip_blanks(p);
    if (*p != '\n') return false;
    const std::int64_t ordinal = (next_ - first_) / entries_per_line;
    for (std::int64_t part = 0; part < entries_per_line; ++part) *next_++ = {ordinal, part, value[part]};
    return true;
  }

  void note_side(std::int64_t, Piece&) const {}
  const sparse::Entry* end_of_entries() const { return next_; }

 private:
  const char* end_;
  sparse::Entry* first_;
  sparse::Entry* next_;
};

template <class Parser>
Piece parse_lines(const Header& header, const Text& text) {
  const char* const begin = text.characters.data();
  const char* const end = begin + text.characters.size();
  Piece piece;
  piece.offset = text.offset;
  piece.entries.resize(Parser::entries_per_line * std::count(begin, end, '\n'));
  Parser parser(header, end, piece);
  for (const char* p = begin; p < end; ++p) {
    const char* const start = p;
    p = skip_blanks(p);
    if (*p == '\n') continue;
    if (*p == '%') {
      p = line_end(p, end);
      continue;
    }
    if (!parser.line(p)) {
      const std::string_view line(start, static_cast<std::size_t>(line_end(start, end) - start));
      piece.fault = {text.offset + (start - begin), explain(header, line)};
      break;
    }
    parser.note_side(text.offset + (start - begin), piece);
    ++piece.lines;
  }
  piece.entries.resize(static_cast<std::size_t>(parser.end_of_entries() - piece.entries.data()));
  return piece;
}

template <Field field>
Piece parse_field(const Header& header, const Text& text) {
  if (header.format == Format::array) return parse_lines<ArrayParser<field>>(header, text);
  switch (header.symmetry) {
    case Symmetry::symmetric:
      return parse_lines<CoordinateParser<field, Symmetry::symmetric>>(header, text);
    case Symmetry::skew:
      return parse_lines<CoordinateParser<field, Symmetry::skew>>(header, text);
    case Symmetry::hermitian:
      if constexpr (field == Field::complex)
        return parse_lines<CoordinateParser<field, Symmetry::hermitian>>(header, text);
      break;  // the banner has been checked
    case Symmetry::general:
      break;
  }
  return parse_lines<CoordinateParser<field, Symmetry::general>>(header, text);
}

}  // namespace

Piece parse(const Header& header, const Text& text) {
  switch (header.field) {
    case Field::integer:
      return parse_field<Field::integer>(header, text);
    case Field::pattern:
      return parse_field<Field::pattern>(header, text);
    case Field::complex:
      return parse_field<Field::complex>(header, text);
    case Field::real:
      break;
  }
  return parse_field<Field::real>(header, text);
}

}  // namespace ayatori::io::matrix_market
