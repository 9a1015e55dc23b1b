#pragma once

#include <algorithm>
#include <memory>

#include "ayatori/base/range.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/matrix_market/parse.hpp"

namespace ayatori::io::matrix_market {

/// The longest line of data, blanks included: far more than four numbers need, and the most that is read to
/// find the end of a line in what turns out to be no text.
inline constexpr std::int64_t longest_line = 65536;

/// What a line without an end within `longest_line` is called.
inline constexpr std::string_view line_too_long = "the line is longer than 65536 characters";

/// Whole lines, or why there are none.
struct Lines {
  Text text;
  Fault fault;
};

/// Reads the lines that begin in `range` of a plain source into `buffer`. `body` is the offset of the first
/// line.
Lines read_lines(const ByteSource& source, Range range, std::int64_t body, Array<char>& buffer);

/// Cuts a stream into pieces of whole lines.
class LineCutter {
 public:
  /// `position` is the offset that the stream is at; pieces are about `piece_bytes` long.
  LineCutter(ByteStream& stream, std::int64_t position, std::int64_t piece_bytes)
      : stream_(stream), position_(position), piece_bytes_(piece_bytes) {}

  /// More characters are never cut off at once.
  static std::int64_t longest_piece(std::int64_t piece_bytes) {
    return longest_line + 2 * std::max(piece_bytes, std::int64_t{1}) + 1;
  }

  /// Puts the next lines into `buffer`, which `Lines::text` refers to; no characters at the end of the
  /// stream. After a fault the stream is at its end.
  Lines next(Array<char>& buffer);

 private:
  /// Appends up to `bytes` of the stream. False at its end.
  bool append(Array<char>& buffer, std::int64_t bytes);

  ByteStream& stream_;
  std::int64_t position_;
  std::int64_t piece_bytes_;
  Array<char> rest_;  // the beginning of a line whose end is still to come
  bool finished_ = false;
};

}  // namespace ayatori::io::matrix_market
