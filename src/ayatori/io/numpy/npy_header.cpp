#include <algorithm>
#include <optional>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/number_in.hpp"
#include "ayatori/io/numpy/npy.hpp"

namespace ayatori::io::numpy {

namespace {

/// Exactly this many bytes.
std::string take(ByteStream& stream, std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t done = 0;
  while (done < count) {
    const std::size_t here = stream.read(std::span(bytes).subspan(done));
    if (here == 0) throw InputError("the file ends within the header of the array: it is truncated");
    done += here;
  }
  return bytes;
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t k = bytes.size(); k-- > 0;) value = 256 * value + static_cast<unsigned char>(bytes[k]);
  return value;
}

/// What stands behind a key of Python's text of a dictionary, up to the end.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
  const auto quoted = fmt::format("'{}':", key);
  const auto at = dictionary.find(quoted);
  if (at == std::string_view::npos)
    throw InputError(fmt::format("the header of the array has no {}", in_quotes(key)));
  auto rest = dictionary.substr(at + quoted.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

void parse_type(std::string_view text, ArrayHeader& header) {
  const auto end = text.find('\'', 1);
  if (!text.starts_with('\'') || end == std::string_view::npos)
    throw InputError("the array is of records, where one of numbers is needed");
  const auto word = text.substr(1, end - 1);
  const int bytes = word.size() < 3 ? 0 : number_in<int>(word.substr(2)).value_or(0);
  const char kind = word.size() < 2 ? '\0' : word[1];
  if (kind == 'O') throw InputError("the array is of Python objects: convert it, A.astype(float)");
  if (kind == 'S' || kind == 'U') {
    header.is_text = true;
    header.text_bytes = bytes * std::int64_t{kind == 'U' ? 4 : 1};
    return;
  }
  const bool is_whole =
      (kind == 'i' || kind == 'u') && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
  const bool is_real = kind == 'f' && (bytes == 4 || bytes == 8);
  const bool is_complex = kind == 'c' && (bytes == 8 || bytes == 16);
  const bool is_truth = kind == 'b' && bytes == 1;
  if (!is_whole && !is_real && !is_complex && !is_truth)
    throw InputError(fmt::format("the array is of type {}: convert it, A.astype({})", in_quotes(word),
                                 kind == 'c' ? "complex" : "float"));
  const bool is_swapped = word[0] == '>';
  header.type =
      is_complex ? NumberType{'f', bytes / 2, is_swapped, true} : NumberType{kind, bytes, is_swapped};
}

void parse_shape(std::string_view text, ArrayHeader& header) {
  const auto end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos)
    throw InputError("the array's shape cannot be read");
  text = text.substr(1, end - 1);
  header.count = 1;
  while (text.find_first_not_of(" ,") != std::string_view::npos) {
    text.remove_prefix(text.find_first_not_of(" ,"));
    const auto word = text.substr(0, text.find_first_of(" ,"));
    const auto size = number_in<std::int64_t>(word);
    if (!size || *size < 0 || __builtin_mul_overflow(header.count, *size, &header.count))
      throw InputError("the array's shape cannot be read");
    header.shape.push_back(*size);
    text.remove_prefix(word.size());
  }
}

ArrayHeader read_header(ByteStream& stream) {
  const std::string beginning = take(stream, npy_magic.size() + 2);
  if (!beginning.starts_with(npy_magic)) throw InputError("no array of NumPy begins so");
  const bool is_old = beginning[npy_magic.size()] == 1;
  const std::size_t length = little_endian(take(stream, is_old ? 2 : 4));
  constexpr std::size_t longest = 65536;
  if (length > longest) throw InputError("the header of the array is longer than 65536 bytes");
  const std::string dictionary = take(stream, length);
  ArrayHeader header;
  parse_type(value_of(dictionary, "descr"), header);
  header.by_columns = value_of(dictionary, "fortran_order").starts_with("True");
  parse_shape(value_of(dictionary, "shape"), header);
  header.data_at = static_cast<std::int64_t>(beginning.size() + (is_old ? 2 : 4) + length);
  return header;
}

}  // namespace

ArrayHeader read_array_header(ByteStream& stream, std::int64_t bytes, const std::string& name) {
  try {
    ArrayHeader header = read_header(stream);
    const std::int64_t each = header.is_text ? header.text_bytes : header.type.parts() * header.type.bytes;
    std::int64_t promised = 0;
    if (__builtin_mul_overflow(header.count, each, &promised) || promised != bytes - header.data_at) {
      throw InputError(fmt::format("the header promises {} numbers of {} bytes, but {} bytes follow",
                                   header.count, each, bytes - header.data_at));
    }
    return header;
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", name, error.what()));
  }
}

std::string array_header(const std::string& type, const std::string& shape) {
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  const std::size_t before = npy_magic.size() + 4;
  constexpr std::size_t alignment = 64;
  dictionary.append(alignment - 1 - (before + dictionary.size()) % alignment, ' ');
  dictionary += '\n';
  const auto size = dictionary.size();
  std::string header(npy_magic);
  header += {'\1', '\0', static_cast<char>(size % 256), static_cast<char>(size / 256)};
  return header + dictionary;
}

}  // namespace ayatori::io::numpy
