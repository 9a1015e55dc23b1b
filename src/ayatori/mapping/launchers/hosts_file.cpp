#include "ayatori/mapping/launchers/hosts_file.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include "ayatori/base/error.hpp"
#include "ayatori/base/number_in.hpp"
#include "ayatori/base/printable.hpp"
#include "ayatori/base/regular_file.hpp"

namespace ayatori::mapping {

namespace {

constexpr std::int64_t most_bytes = 64 << 20;

/// Whether a text consists of letters, digits, and what stands between them. That is neither an option nor
/// an instruction to a launcher (`user@host`, `+n0`, `^host`, `host[0-3]`).
bool is_name(std::string_view text) {
  return !text.empty() && text.front() != '-' && std::ranges::all_of(text, [](unsigned char c) {
    return c >= 0x80 || std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
  });
}

int slots_in(std::string_view text) {
  constexpr int most_slots = 1 << 24;
  const auto number = number_in<int>(text);
  if (!number || *number < 1 || *number > most_slots)
    throw InputError(fmt::format("'{}' is no number of slots", printable(text, 40)));
  return *number;
}

/// Without blanks around '=', which Open MPI allows.
std::string joined(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\t';
    if (c == '=') result.erase(result.find_last_not_of(" \t") + 1);
    if (!is_blank || !result.ends_with('=')) result += c;
  }
  return result;
}

/// The host of a line without its comment; nothing if it is blank.
std::optional<Host> read_line(const std::string& text) {
  std::istringstream words(joined(text));
  std::string name;
  if (!(words >> name)) return std::nullopt;
  Host host;
  if (const auto colon = name.find(':'); colon != std::string::npos) {
    host.slots = slots_in(std::string_view(name).substr(colon + 1));
    name.resize(colon);
  }
  if (!is_name(name) || printable(name) != name)
    throw InputError(fmt::format("'{}' is no name of a host", printable(name, 40)));
  host.name = name;
  for (std::string word; words >> word;) {
    const auto equals = std::min(word.find('='), word.size() - 1);
    const auto key = std::string_view(word).substr(0, equals);
    const bool is_limit = key == "max_slots" || key == "max-slots";
    if (key != "slots" && !is_limit)
      throw InputError(fmt::format("'{}' after a host: slots=N and max_slots=N are understood, no more",
                                   printable(word, 40)));
    const int slots = slots_in(std::string_view(word).substr(equals + 1));
    if (!is_limit) host.slots = slots;
  }
  return host;
}

}  // namespace

std::vector<Host> read_hosts(const std::string& path) {
  const auto refuse = [&](const std::string& where, const std::string& what) {
    throw InputError(fmt::format("{}{}: {}", path, where, what));
  };
  std::string text;
  try {
    text = read_regular_file(path, most_bytes);
  } catch (const InputError& error) {
    refuse("", error.what());
  }
  std::istringstream lines(text);
  std::vector<Host> hosts;
  std::unordered_map<std::string, int> line_of;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    try {
      auto host = read_line(line.substr(0, line.find('#')));
      if (!host) continue;
      host->line = number;
      const auto [known, is_new] = line_of.try_emplace(host->name, number);
      if (!is_new)
        throw InputError(
            fmt::format("{} is named in line {} already: a node is one line", host->name, known->second));
      hosts.push_back(std::move(*host));
    } catch (const InputError& error) {
      refuse(fmt::format(", line {}", number), error.what());
    }
  }
  return hosts;
}

}  // namespace ayatori::mapping
