#pragma once

#include <string>
#include <string_view>

namespace ayatori {

/// Text from a file as it may be printed: what is no UTF-8, or would steer a terminal (control characters,
/// escape sequences, marks that turn the direction of writing) becomes '?'. Cut, with "..." at the end, where
/// it has more than `most_bytes`.
std::string printable(std::string_view text, std::size_t most_bytes = 1000);

}  // namespace ayatori
