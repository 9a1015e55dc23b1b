#include "ayatori/io/matrix_market/locate.hpp"

#include <algorithm>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/io/matrix_market/parse.hpp"
#include "ayatori/io/number.hpp"

namespace ayatori::io::matrix_market {

namespace {

/// Counts lines, and lines of data, in a content given in pieces.
class LineCounter {
 public:
  LineCounter(const Header& header, std::int64_t offset) : header_(header), offset_(offset) {}

  /// Takes the next characters. False once the place is found.
  bool feed(std::span<const char> text) {
    for (const char c : text) {
      if (at_line_begin_) {
        if (position_ == offset_) return false;
        at_line_begin_ = false;
        meaning_known_ = false;
      }
      if (!meaning_known_ && !is_blank(c)) {
        meaning_known_ = true;
        const bool data = c != '\n' && c != '%' && position_ >= header_.body;
        if (data && place_.entries == header_.entries) {
          place_.excess = true;
          return false;
        }
        place_.entries += data ? 1 : 0;
      }
      if (c == '\n') {
        at_line_begin_ = true;
        ++place_.line;
      }
      ++position_;
    }
    return true;
  }

  /// The place when the content has ended.
  Place at_end() const {
    Place place = place_;
    place.line += at_line_begin_ ? 0 : 1;
    return place;
  }
  Place found() const {
    Place place = place_;
    ++place.line;
    return place;
  }

 private:
  const Header& header_;
  std::int64_t offset_;
  std::int64_t position_ = 0;
  Place place_;
  bool at_line_begin_ = true;
  bool meaning_known_ = true;
};

}  // namespace

Place locate(const ByteSource& source, const Header& header, std::int64_t offset) {
  const auto stream = open_stream(source);
  LineCounter counter(header, offset);
  Array<char> buffer(std::size_t{1} << 20);
  while (const std::size_t count = stream->read(buffer)) {
    if (!counter.feed(std::span(buffer).first(count))) return counter.found();
  }
  return counter.at_end();
}

std::int64_t line_of_entry(const ByteSource& source, const Header& header, std::int64_t ordinal) {
  Header shorter = header;
  shorter.entries = ordinal;
  return locate(source, shorter, nowhere).line;  // line of the first entry beyond
}

}  // namespace ayatori::io::matrix_market
