#include "ayatori/network/networks/parse.hpp"

#include <charconv>

#include "ayatori/base/error.hpp"

namespace ayatori::network {

void refuse(const NetworkType& type, std::string_view text) {
  throw InputError(
      fmt::format("--network {}{}{}: write {}", type.name, text.empty() ? "" : ":", text, type.syntax));
}

std::vector<Size> parse_sizes(const NetworkType& type, std::string_view text) {
  constexpr int largest = 1 << 20;
  constexpr std::size_t most_sizes = 32;  // dimensions, or levels
  std::vector<Size> sizes;
  std::string_view rest = text;
  while (true) {
    const auto part = rest.substr(0, rest.find('x'));
    Size size;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size.value);
    if (error != std::errc() || size.value < 1 || size.value > largest) refuse(type, text);
    size.suffix = std::string(end, part.data() + part.size());
    if (sizes.size() == most_sizes) refuse(type, text);
    sizes.push_back(size);
    if (part.size() == rest.size()) return sizes;
    rest.remove_prefix(part.size() + 1);
  }
}

}  // namespace ayatori::network
