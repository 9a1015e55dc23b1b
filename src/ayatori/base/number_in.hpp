#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace ayatori {

/// The number that all of a text is, as std::from_chars reads it; nothing if it is none, or none that T
/// holds.
template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace ayatori
