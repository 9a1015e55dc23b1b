#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "ayatori/base/error.hpp"
#include "ayatori/base/printable.hpp"

// Everything that is read as JSON comes through here: the text may be anybody's.

namespace ayatori {

/// Arrays and objects inside each other. What copies and prints values calls itself for every level.
inline constexpr int deepest_json = 64;

inline constexpr std::int64_t most_json_bytes = std::int64_t{256} << 20;

/// The value of a text. Throws InputError, without a name, for what is no JSON or deeper than deepest_json.
nlohmann::json parse_json(std::string_view text);
/// The same with the keys of objects in their order.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

/// The value of a regular file of at most this many bytes. Throws InputError without the name of the file.
nlohmann::json read_json(const std::string& path, std::int64_t most_bytes = most_json_bytes);
nlohmann::ordered_json read_ordered_json(const std::string& path, std::int64_t most_bytes = most_json_bytes);

/// "parse error at line 1, ...": without the number that the parser gives its errors.
std::string words_of(const nlohmann::json::exception& error);

/// Runs f(); what is wrong with its input becomes an InputError that begins with `name`.
template <class F>
auto naming(std::string_view name, F&& f) {
  try {
    return f();
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: {}", name, words_of(error)));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", name, error.what()));
  }
}

/// The beginning of a value, for an error message.
std::string in_words(const auto& json) {
  constexpr std::size_t longest = 40;
  return printable(json.is_structured() ? json.type_name() : json.dump(), longest);
}

/// A whole number of a JSON text that lies in [least, most]. Throws InputError. The parser's own conversions
/// take every number, and one out of range becomes any other.
template <class T>
T whole_number(const auto& json, std::int64_t least = std::numeric_limits<T>::min(),
               std::int64_t most = std::numeric_limits<T>::max()) {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool is_whole = json.is_number_integer() &&
                        !(json.is_number_unsigned() && json.template get<std::uint64_t>() > largest);
  const std::int64_t value = is_whole ? json.template get<std::int64_t>() : 0;
  if (!is_whole || value < least || value > most)
    throw InputError(fmt::format("{} is no whole number from {} to {}", in_words(json), least, most));
  return static_cast<T>(value);
}

/// A number in [least, most]. Throws InputError.
double number_between(const auto& json, double least, double most) {
  const double value =
      json.is_number() ? json.template get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!(value >= least && value <= most))
    throw InputError(fmt::format("{} is no number from {} to {}", in_words(json), least, most));
  return value;
}

}  // namespace ayatori
