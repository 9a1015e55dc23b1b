#include "ayatori/io/matrix_market/lines.hpp"

#include <algorithm>
#include <cstring>

namespace ayatori::io::matrix_market {

namespace {

/// Position behind the first line end at or behind `from`; the size if there is none.
std::int64_t behind_line_end(std::span<const char> text, std::int64_t from) {
  const auto size = static_cast<std::int64_t>(text.size());
  if (from >= size) return size;
  const void* found = std::memchr(text.data() + from, '\n', static_cast<std::size_t>(size - from));
  return found == nullptr ? size : static_cast<const char*>(found) - text.data() + 1;
}

bool ends_line(std::span<const char> text) {
  return !text.empty() && text.back() == '\n';
}

}  // namespace

Lines read_lines(const ByteSource& source, Range range, std::int64_t body, Array<char>& buffer) {
  // The character before the range tells whether a line begins with it.
  const std::int64_t from = range.begin > body ? range.begin - 1 : range.begin;
  const auto load = [&](std::int64_t bytes) {
    const auto known = static_cast<std::int64_t>(buffer.size());
    buffer.resize(known + bytes);
    buffer.resize(known + source.read(from + known, std::span(buffer).subspan(known)));
    return static_cast<std::int64_t>(buffer.size()) == known + bytes;
  };
  constexpr std::int64_t usual_line = 256;
  buffer.clear();
  bool more = load(range.end - from + usual_line);
  const std::int64_t begin = from == range.begin ? 0 : behind_line_end(buffer, 0);
  const Text none{from + begin, {}};
  if (from + begin >= range.end) return {none, {}};

  const std::int64_t last = range.end - 1 - from;  // the line that this character is on is the last one
  std::int64_t end = behind_line_end(buffer, last);
  while (more && !ends_line(std::span(buffer).first(end))) {
    if (end - last > longest_line) return {none, {from + begin, std::string(line_too_long)}};
    more = load(longest_line);
    end = behind_line_end(buffer, end);
  }
  if (!ends_line(std::span(buffer).first(end))) {
    buffer.resize(end);
    buffer.push_back('\n');
    ++end;
  }
  return {{from + begin, std::span<const char>(buffer).subspan(begin, end - begin)}, {}};
}

bool LineCutter::append(Array<char>& buffer, std::int64_t bytes) {
  const std::size_t known = buffer.size();
  buffer.resize(known + static_cast<std::size_t>(bytes));
  buffer.resize(known + stream_.read(std::span(buffer).subspan(known)));
  return buffer.size() == known + static_cast<std::size_t>(bytes);
}

Lines LineCutter::next(Array<char>& buffer) {
  buffer.assign(rest_.begin(), rest_.end());
  rest_.clear();
  const auto is_line_end = [](char c) { return c == '\n'; };
  auto end = buffer.end();
  while (!finished_) {
    const auto searched = static_cast<std::int64_t>(buffer.size());
    finished_ = !append(buffer, std::max(piece_bytes_, std::int64_t{1}));
    const auto last = std::find_if(buffer.rbegin(), buffer.rend() - searched, is_line_end);
    end = last.base();
    if (end - buffer.begin() > searched) break;
    end = buffer.end();
    if (static_cast<std::int64_t>(buffer.size()) > longest_line + piece_bytes_) {
      finished_ = true;
      return {{position_, {}}, {position_, std::string(line_too_long)}};
    }
  }
  if (finished_ && !buffer.empty() && end == buffer.end() && buffer.back() != '\n') {
    buffer.push_back('\n');
    end = buffer.end();
  }
  rest_.assign(end, buffer.end());
  const Text text{position_,
                  std::span<const char>(buffer).first(static_cast<std::size_t>(end - buffer.begin()))};
  position_ += static_cast<std::int64_t>(text.characters.size());
  return {text, {}};
}

}  // namespace ayatori::io::matrix_market
