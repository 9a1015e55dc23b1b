#include "ayatori/base/json.hpp"

#include "ayatori/base/regular_file.hpp"

namespace ayatori {

namespace {

/// Throws InputError for a text that goes deeper than the limit before its first mistake. No recursion, and
/// no memory: before a mistake, brackets outside of strings are all that opens and closes levels.
void check_depth(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest_json)
        throw InputError(
            fmt::format("JSON with more than {} levels, which nothing here writes", deepest_json));
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

template <class Json>
Json parse(std::string_view text) {
  check_depth(text);
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw InputError("no JSON: " + words_of(error));
  }
}

}  // namespace

std::string words_of(const nlohmann::json::exception& error) {
  constexpr std::size_t longest = 300;
  const std::string_view text = error.what();
  const auto end = text.find("] ");
  return printable(text.starts_with('[') && end != std::string_view::npos ? text.substr(end + 2) : text,
                   longest);
}

nlohmann::json parse_json(std::string_view text) {
  return parse<nlohmann::json>(text);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text) {
  return parse<nlohmann::ordered_json>(text);
}

nlohmann::json read_json(const std::string& path, std::int64_t most_bytes) {
  return parse_json(read_regular_file(path, most_bytes));
}

nlohmann::ordered_json read_ordered_json(const std::string& path, std::int64_t most_bytes) {
  return parse_ordered_json(read_regular_file(path, most_bytes));
}

}  // namespace ayatori
