#include "ayatori/io/binary/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ayatori/base/array.hpp"
#include "ayatori/base/error.hpp"

namespace ayatori::io {

namespace {

template <class Stored>
Stored load(const char* bytes, bool is_swapped) {
  char copy[sizeof(Stored)];
  std::copy_n(bytes, sizeof(Stored), copy);
  if (is_swapped) std::reverse(copy, copy + sizeof(Stored));
  Stored value;
  std::memcpy(&value, copy, sizeof value);
  return value;
}

/// Calls use() with a value of the C++ type that this is.
template <class Use>
void with_type(const NumberType& type, Use&& use) {
  const bool is_signed = type.kind == 'i';
  switch (type.bytes) {
    case 1:
      return is_signed ? use(std::int8_t{}) : use(std::uint8_t{});
    case 2:
      return is_signed ? use(std::int16_t{}) : use(std::uint16_t{});
    case 4:
      return type.kind == 'f' ? use(float{}) : is_signed ? use(std::int32_t{}) : use(std::uint32_t{});
    default:
      return type.kind == 'f' ? use(double{}) : is_signed ? use(std::int64_t{}) : use(std::uint64_t{});
  }
}

/// Whether `number` can be a Value: finite, or a whole number of 64 bits.
template <class Value, class Stored>
bool fits(Stored number) {
  constexpr double two_to_63 = 9223372036854775808.0;
  if constexpr (std::is_same_v<Value, double>)
    return std::isfinite(static_cast<double>(number));
  else if constexpr (std::is_floating_point_v<Stored>)
    return std::abs(static_cast<double>(number)) < two_to_63 && std::trunc(number) == number;
  else
    return std::is_signed_v<Stored> ||
           static_cast<std::uint64_t>(number) <=
               static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

}  // namespace

template <class Value>
void NumberStream::read(std::span<Value> values) {
  constexpr std::size_t chunk = 8192;
  Array<char> buffer(std::min(values.size(), chunk) * static_cast<std::size_t>(type_.bytes));
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), chunk);
    const auto wanted = std::span(buffer).first(count * static_cast<std::size_t>(type_.bytes));
    std::size_t done = 0;
    while (done < wanted.size()) {
      const std::size_t here = stream_.read(wanted.subspan(done));
      if (here == 0)
        throw InputError(fmt::format("{}: the file ends within its {}: it is truncated", name_, what_));
      done += here;
    }
    with_type(type_, [&]<class Stored>(Stored /*its type*/) {
      for (std::size_t k = 0; k < count; ++k) {
        const auto number = load<Stored>(wanted.data() + k * sizeof(Stored), type_.is_swapped);
        if (!fits<Value>(number)) {
          throw InputError(fmt::format(
              "{}: number {} of its {} is {}", name_,
              (done_ + static_cast<std::int64_t>(k)) / type_.parts() + 1, what_,
              std::is_same_v<Value, double> ? "infinite or not a number" : "no whole number of 64 bits"));
        }
        values[k] = static_cast<Value>(number);
      }
    });
    done_ += static_cast<std::int64_t>(count);
    values = values.subspan(count);
  }
}

void NumberStream::reals(std::span<double> values) {
  read(values);
}

void NumberStream::integers(std::span<std::int64_t> values) {
  if (type_.is_complex)
    throw InputError(fmt::format("{}: its {} are complex, where whole ones are needed", name_, what_));
  read(values);
}

}  // namespace ayatori::io
