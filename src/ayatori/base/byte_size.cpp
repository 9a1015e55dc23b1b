#include "ayatori/base/byte_size.hpp"

#include <charconv>

#include "ayatori/base/error.hpp"

namespace ayatori {

std::int64_t parse_bytes(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string suffix(end, text.data() + text.size());
  int shift = -1;
  if (suffix.empty()) shift = 0;
  if (suffix == "K") shift = 10;
  if (suffix == "M") shift = 20;
  if (suffix == "G") shift = 30;
  if (error != std::errc() || shift < 0 || value < 1 || value > std::int64_t{1} << 40 >> shift)
    throw InputError(fmt::format("'{}' is no size: a number of bytes up to 1024G, with K, M or G", text));
  return value << shift;
}

}  // namespace ayatori
