#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ayatori/io/binary/numbers.hpp"

namespace ayatori::io::numpy {

/// How an array begins.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// What the header of an array says.
struct ArrayHeader {
  NumberType type;
  bool is_text = false;  ///< whether elements are texts of `text_bytes` bytes; `type` is then without meaning
  std::int64_t text_bytes = 0;
  bool by_columns = false;
  std::vector<std::int64_t> shape;
  std::int64_t data_at = 0;  ///< bytes of the header

  std::int64_t count = 0;  ///< how many numbers there are
};

/// Takes the header off an array. Throws InputError that begins with `name`; also if `bytes`, the length of
/// the array with its header, is not what the header promises.
ArrayHeader read_array_header(ByteStream& stream, std::int64_t bytes, const std::string& name);

/// The header of an array of this type ("<f8") and shape ("5," or "2, 3").
std::string array_header(const std::string& type, const std::string& shape);

}  // namespace ayatori::io::numpy
