#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "ayatori/base/array.hpp"
#include "ayatori/io/matrix_market/header.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::io::matrix_market {

/// The offset of what does not occur.
inline constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();

/// Whole lines of the data, the last one ended too.
struct Text {
  std::int64_t offset = 0;  ///< offset of the first character, in the inflated content
  std::span<const char> characters;
};

/// Something wrong with the input and the offset of the line that it is on.
struct Fault {
  std::int64_t offset = nowhere;
  std::string what;
};

/// What a piece of the data says.
struct Piece {
  std::int64_t offset = 0;       ///< offset of its text
  std::int64_t lines = 0;        ///< lines of data: neither blank nor comment
  Array<sparse::Entry> entries;  ///< coordinate: mirrored, too; array: row = line of data within the piece;
                                 ///< of complex values those of io/complex_parts.hpp
  std::int64_t first_below =
      nowhere;  ///< offset of the first line with an entry below the diagonal, unless general
  std::int64_t first_above = nowhere;  ///< the same above the diagonal
  Fault fault;                         ///< the first; nothing behind it is parsed
};

/// Parses lines of data. Thread-safe; throws nothing but bad_alloc.
Piece parse(const Header& header, const Text& text);

/// What is wrong with a line (its end not included) that parse() refused.
std::string explain(const Header& header, std::string_view line);

/// What is wrong with a diagonal entry of a hermitian matrix that is not real.
std::string complex_diagonal(std::int64_t row);

}  // namespace ayatori::io::matrix_market
