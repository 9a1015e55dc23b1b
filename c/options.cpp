#include "c/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/number_in.hpp"

namespace ayatori::c {

namespace {

using session::SolveRequest;
using Row = session::Option<SolveRequest>;

template <class T>
T value_in(const std::string& text, const char* wanted) {
  const auto number = number_in<T>(text);
  if (!number || !std::isfinite(static_cast<double>(*number)))
    throw InputError(fmt::format("'{}' is not {}", text, wanted));
  return *number;
}

void parse(const std::string& text, std::string& value) {
  value = text;
}
void parse(const std::string& text, bool& value) {
  if (text != "true" && text != "false") throw InputError(fmt::format("'{}' is not true or false", text));
  value = text == "true";
}
void parse(const std::string& text, int& value) {
  value = value_in<int>(text, "a whole number");
}
void parse(const std::string& text, std::int64_t& value) {
  value = value_in<std::int64_t>(text, "a whole number");
}
void parse(const std::string& text, double& value) {
  value = value_in<double>(text, "a number");
}
template <class T>
void parse(const std::string& text, std::optional<T>& value) {
  if (text.empty()) return value.reset();
  T given{};
  parse(text, given);
  value = given;
}
void parse(const std::string& text, std::vector<std::string>& value) {
  value.clear();
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    value.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::string written(const std::string& value) {
  return value;
}
template <class T>
std::string written(const T& value) {
  return fmt::format("{}", value);
}
template <class T>
std::string written(const std::optional<T>& value) {
  return value ? written(*value) : "";
}
std::string written(const std::vector<std::string>& value) {
  return fmt::format("{}", fmt::join(value, ","));
}

const char* type_of(const Row& option) {
  return std::visit(
      [](auto place) -> const char* {
        using T = std::remove_cvref_t<decltype(place(std::declval<SolveRequest&>()))>;
        if constexpr (std::is_same_v<T, std::string>) return "text";
        if constexpr (std::is_same_v<T, bool>) return "boolean";
        if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::optional<int>>) return "integer";
        if constexpr (std::is_same_v<T, std::vector<std::string>>) return "list";
        return "number";
      },
      option.place);
}

/// Descriptions, and the texts that they point to.
struct Table {
  struct Texts {
    std::string initial;
    std::string help;
    std::string words;
  };
  std::vector<Texts> texts;
  std::vector<ayatori_option> options;
};

Table make_table() {
  Table table;
  const auto usual = new_request();
  for (const auto& option : session::solve_options())
    table.texts.push_back(
        {text_of(option, usual), in_words_of_c(description_of(option)), written(option.words)});
  for (std::size_t i = 0; i < table.texts.size(); ++i) {
    const auto& option = session::solve_options()[i];
    const auto& [initial, help, words] = table.texts[i];
    table.options.push_back(
        {option.name.c_str(), type_of(option), initial.c_str(), help.c_str(), words.c_str()});
  }
  return table;
}

}  // namespace

SolveRequest new_request() {
  SolveRequest request;
  request.profile = "none";
  request.knowledge = "none";
  return request;
}

const Row& option_called(std::string name) {
  std::ranges::replace(name, '_', '-');
  return find_named(session::solve_options(), name, "option");
}

void set_option(SolveRequest& request, const std::string& name, const std::string& text) {
  const auto& option = option_called(name);
  auto changed = request;
  try {
    std::visit([&](auto place) { parse(text, place(changed)); }, option.place);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", option.name, error.what()));
  }
  if (const auto wrong = complaint(option, changed); !wrong.empty())
    throw InputError(fmt::format("{}: {}", option.name, wrong));
  request = std::move(changed);
}

std::string text_of(const Row& option, const SolveRequest& request) {
  return std::visit([](const auto& value) { return written(value); }, value_of(option, request));
}

const ayatori_option* described_option(int index) {
  static const auto table = make_table();
  return index >= 0 && index < static_cast<int>(table.options.size()) ? &table.options[index] : nullptr;
}

std::string in_words_of_c(std::string text) {
  rename_options(session::solve_options(), text, [](const auto& option) { return option.name; });
  return text;
}

}  // namespace ayatori::c
