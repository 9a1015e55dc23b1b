#include "ayatori/base/printable.hpp"

#include <algorithm>
#include <cstdint>

namespace ayatori {

namespace {

/// Bytes of the UTF-8 sequence that the text begins with; 0 if it is none.
std::size_t length_of_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 0 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool is_overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool is_outside = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return is_overlong || is_outside ? 0 : length;
}

std::uint32_t code_point(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first;
  std::uint32_t value = first & (0x7fU >> sequence.size());
  for (const char next : sequence.substr(1)) value = value << 6 | (static_cast<unsigned char>(next) & 0x3fU);
  return value;
}

bool steers_terminals(std::uint32_t code) {
  const auto within = [&](std::uint32_t first, std::uint32_t last) { return first <= code && code <= last; };
  return code < 0x20 || within(0x7f, 0x9f) || within(0x200e, 0x200f) || within(0x2028, 0x202e) ||
         within(0x2066, 0x2069);
}

}  // namespace

std::string printable(std::string_view text, std::size_t most_bytes) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = length_of_sequence(text);
    const bool is_harmless = length > 0 && !steers_terminals(code_point(text.substr(0, length)));
    const std::string_view next = is_harmless ? text.substr(0, length) : std::string_view("?");
    if (result.size() + next.size() > most_bytes) return result + "...";
    result += next;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

}  // namespace ayatori
