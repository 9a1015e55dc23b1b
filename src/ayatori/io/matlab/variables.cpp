#include "ayatori/io/matlab/variables.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/io/compression/codec.hpp"

namespace ayatori::io::matlab {

namespace {

enum Type : int { int8 = 1, single = 7, real = 9, int64 = 12, uint64 = 13, matrix = 14, compressed = 15 };
enum Class : int { structure = 2, sparse = 5, first_full = 6, last_full = 15 };

constexpr std::int64_t header_bytes = 128;
constexpr std::int64_t tag_bytes = 8;
constexpr std::int64_t longest_short_element = 1 << 20;

std::uint32_t word(const char* bytes, bool is_swapped) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return is_swapped ? __builtin_bswap32(value) : value;
}

bool is_swapped(const ByteSource& source) {
  char mark[2];
  source.read(header_bytes - 2, mark);
  const bool is_little = mark[0] == 'I' && mark[1] == 'M';
  return is_little != (std::endian::native == std::endian::little);
}

bool is_full(int kind) {
  return kind >= first_full && kind <= last_full;
}

bool visit_variable(Cursor& cursor, const std::string& known_name, int depth, const Visit& visit);

/// The fields of a structure that is one, not an array of several.
bool visit_fields(Cursor& cursor, const std::string& name, const std::vector<std::int64_t>& sizes, int depth,
                  const Visit& visit) {
  if (std::ranges::any_of(sizes, [](std::int64_t size) { return size != 1; })) return false;
  const auto length = cursor.integers(cursor.next());
  const std::string names = cursor.text(cursor.next());
  if (length.size() != 1 || length[0] < 1) cursor.refuse("has a structure whose fields cannot be read");
  for (std::size_t at = 0; at + static_cast<std::size_t>(length[0]) <= names.size();
       at += static_cast<std::size_t>(length[0])) {
    const std::string field(names.substr(at, static_cast<std::size_t>(length[0])).c_str());
    const auto element = cursor.next();
    if (element.type != matrix) cursor.refuse("has a structure whose fields cannot be read");
    if (element.bytes == 0) continue;  // empty
    Cursor inside = cursor.part(element);
    if (visit_variable(inside, name + "." + field, depth + 1, visit)) return true;
    inside.finish();
    cursor.leave_part(element);
  }
  return false;
}

/// A variable whose tag has been read. `known_name` is that of a field, which has none of its own.
bool visit_variable(Cursor& cursor, const std::string& known_name, int depth, const Visit& visit) {
  constexpr int deepest = 8;
  const auto flags = cursor.integers(cursor.next());
  if (flags.size() != 2) cursor.refuse("has a variable whose kind cannot be read");
  const int kind = static_cast<int>(flags[0] & 0xff);
  constexpr int complex_bit = 0x800;
  if (kind != structure && kind != sparse && !is_full(kind)) return false;
  const auto sizes = cursor.integers(cursor.next());
  std::string name = cursor.text(cursor.next());
  if (!known_name.empty()) name = known_name;
  if (kind == structure) return depth < deepest && visit_fields(cursor, name, sizes, depth, visit);
  if (sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1) return false;
  return visit({name, sizes[0], sizes[1], kind == sparse, (flags[0] & complex_bit) != 0}, cursor);
}

}  // namespace

std::string Cursor::take(std::int64_t bytes) {
  if (bytes > left_) refuse("has a variable that is longer than it says: it is damaged");
  if (bytes > longest_short_element) refuse("has a name that is longer than a megabyte: it is damaged");
  std::string text(static_cast<std::size_t>(bytes), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const std::size_t here = stream_.read(std::span(text).subspan(done));
    if (here == 0) refuse("ends within a variable: it is truncated");
    done += here;
  }
  left_ -= bytes;
  return text;
}

void Cursor::pass(std::int64_t bytes) {
  bytes = std::min(bytes, left_);
  stream_.skip(bytes);
  left_ -= bytes;
}

Cursor::Element Cursor::next() {
  const std::string tag = take(4);
  const std::uint32_t first = word(tag.data(), is_swapped_);
  Element element{static_cast<int>(first & 0xffff), first >> 16, 0};
  if (element.bytes > 0) {  // a short element: four bytes with the tag
    element.padding = 4 - element.bytes;
    if (element.padding < 0) refuse("has an element of a damaged length");
    return element;
  }
  element.bytes = word(take(4).data(), is_swapped_);
  element.padding = element.type == matrix ? 0 : (8 - element.bytes % 8) % 8;
  if (element.bytes > left_) refuse("has a variable that is longer than it says: it is truncated or damaged");
  return element;
}

Cursor::Element Cursor::raw_tag() {
  const std::string tag = take(tag_bytes);
  return {static_cast<int>(word(tag.data(), is_swapped_)), word(tag.data() + 4, is_swapped_), 0};
}

void Cursor::finish() {
  pass(left_);
}

std::string Cursor::text(const Element& element) {
  std::string text = take(element.bytes);
  pass(element.padding);
  return text;
}

std::vector<std::int64_t> Cursor::integers(const Element& element) {
  const NumberType type = number_type(element);
  const std::string bytes = text(element);
  const MemoryBytes memory(bytes, name_);
  std::vector<std::int64_t> values(bytes.size() / static_cast<std::size_t>(type.bytes));
  const auto stream = open_range(memory, 0, memory.size());
  NumberStream(*stream, type, name_, "sizes").integers(values);
  return values;
}

NumberType Cursor::number_type(const Element& element) const {
  if (element.type >= int8 && element.type < single) {
    const int doubled = (element.type - 1) / 2;
    return {element.type % 2 == 1 ? 'i' : 'u', 1 << doubled, is_swapped_};
  }
  if (element.type == single) return {'f', 4, is_swapped_};
  if (element.type == real) return {'f', 8, is_swapped_};
  if (element.type == int64 || element.type == uint64)
    return {element.type == int64 ? 'i' : 'u', 8, is_swapped_};
  refuse(fmt::format("has something of type {} where numbers belong: it is damaged", element.type));
}

NumberStream Cursor::numbers(const Element& element, const std::string& what) {
  return {stream_, number_type(element), name_, what};
}

void Cursor::leave(const Element& element, std::int64_t numbers_taken) {
  const std::int64_t taken = numbers_taken * number_type(element).bytes;
  left_ -= std::min(taken, left_);
  pass(element.bytes - taken + element.padding);
}

void Cursor::refuse(const std::string& what) const {
  throw InputError(fmt::format("{}: the MAT-file {}", name_, what));
}

void visit_variables(const ByteSource& source, const Visit& visit) {
  const bool swapped = is_swapped(source);
  std::int64_t at = header_bytes;
  while (at + tag_bytes <= source.size()) {
    const auto tag_stream = open_range(source, at, tag_bytes);
    char tag[tag_bytes];
    tag_stream->read(tag);
    const auto type = static_cast<int>(word(tag, swapped));
    const std::int64_t bytes = word(tag + 4, swapped);
    at += tag_bytes;
    if (bytes > source.size() - at)
      throw InputError(source.name() + ": the MAT-file ends within a variable: it is truncated");
    if (type == matrix) {
      const auto stream = open_range(source, at, bytes);
      Cursor cursor(*stream, bytes, swapped, source.name());
      if (visit_variable(cursor, "", 0, visit)) return;
    } else if (type == compressed) {
      const auto stream = decode(source, at, bytes, "zlib", make_inflater(MAX_WBITS));
      Cursor outer(*stream, tag_bytes, swapped, source.name());
      const auto inner_type = outer.raw_tag();
      if (inner_type.type == matrix) {
        Cursor cursor(*stream, inner_type.bytes, swapped, source.name());
        if (visit_variable(cursor, "", 0, visit)) return;
      }
    }
    at += bytes;
  }
  if (at < source.size())
    throw InputError(source.name() + ": the MAT-file ends within a variable: it is truncated");
}

}  // namespace ayatori::io::matlab
