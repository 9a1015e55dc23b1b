#pragma once

#include <cstdint>
#include <string>

namespace ayatori {

/// "64K": a number of bytes, with K, M or G for powers of 1024. Throws InputError.
std::int64_t parse_bytes(const std::string& text);

}  // namespace ayatori
