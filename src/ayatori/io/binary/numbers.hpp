#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ayatori/base/range.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/complex_parts.hpp"

namespace ayatori::io {

/// How a number stands in a binary file.
struct NumberType {
  char kind = 'f';          ///< i: signed, u: unsigned, f: floating point, b: truth
  int bytes = 8;            ///< 1, 2, 4 or 8; of 'f' 4 or 8; of a complex one those of one part
  bool is_swapped = false;  ///< against the order of bytes of this machine
  bool is_complex = false;  ///< two of 'f': real and imaginary part

  std::int64_t parts() const { return parts_of(is_complex); }
};

/// Numbers of a stream, in order. What is missing is an InputError with the name of the source.
class NumberStream {
 public:
  /// `what` is what messages call the numbers.
  NumberStream(ByteStream& stream, NumberType type, std::string name, std::string what)
      : stream_(stream), type_(type), name_(std::move(name)), what_(std::move(what)) {}

  /// All parts of the next numbers. Infinite ones and NaN are an InputError.
  void reals(std::span<double> values);
  /// Those that are no whole numbers of 64 bits are an InputError.
  void integers(std::span<std::int64_t> values);
  void skip(std::int64_t count) {
    stream_.skip(count * type_.parts() * type_.bytes);
    done_ += count * type_.parts();
  }
  /// Calls use(number) for each number of a share, of reals for each of its parts. The stream is at its
  /// beginning. Errors as above.
  template <class Value, class Use>
  void for_each_in(Range share, Use&& use);
  std::int64_t parts() const { return type_.parts(); }
  /// What messages call the source.
  const std::string& name() const { return name_; }

 private:
  template <class Value>
  void read(std::span<Value> values);

  ByteStream& stream_;
  NumberType type_;
  std::string name_;
  std::string what_;
  std::int64_t done_ = 0;  ///< parts
};

template <class Value, class Use>
void NumberStream::for_each_in(Range share, Use&& use) {
  constexpr std::int64_t chunk = 8192;
  skip(share.begin);
  std::vector<Value> values;
  for (std::int64_t begin = share.begin; begin < share.end; begin += chunk) {
    values.resize(static_cast<std::size_t>(parts() * std::min(chunk, share.end - begin)));
    if constexpr (std::is_same_v<Value, double>)
      reals(values);
    else
      integers(values);
    for (const Value value : values) use(value);
  }
}

}  // namespace ayatori::io
