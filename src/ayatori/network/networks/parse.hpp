#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/network/network.hpp"

namespace ayatori::network {

/// A size of a spec, and the letters behind it.
struct Size {
  int value = 0;
  std::string suffix;
};

/// "4x6x4m": up to 32 of them, from 1 to 1048576 each. Throws InputError that gives the syntax of the type.
std::vector<Size> parse_sizes(const NetworkType& type, std::string_view text);

/// Throws InputError that gives the syntax of the type.
[[noreturn]] void refuse(const NetworkType& type, std::string_view text);

/// Most nodes, and links, that a network may have.
inline constexpr std::int64_t most_nodes = std::int64_t{1} << 22;

}  // namespace ayatori::network
