#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/io/petsc/big_endian.hpp"
#include "ayatori/io/petsc/header.hpp"

namespace ayatori::io::petsc {

/// Reads `count` numbers of type Stored from `offset` on, in threads, and calls use(k, number) for each;
/// `use` may throw. Throws InputError if the file has become shorter.
template <class Stored, class Use>
void read_array(const ByteSource& source, std::int64_t offset, std::int64_t count, Use&& use) {
  constexpr std::int64_t chunk = 65536;
  constexpr auto bytes_each = static_cast<std::int64_t>(sizeof(Stored));
  parallel_ranges_throwing(count, [&](Range range) {
    Array<char> buffer(static_cast<std::size_t>(std::min(chunk, range.size()) * bytes_each));
    for (std::int64_t begin = range.begin; begin < range.end; begin += chunk) {
      const std::int64_t end = std::min(begin + chunk, range.end);
      const auto wanted = std::span(buffer).first(static_cast<std::size_t>((end - begin) * bytes_each));
      const std::int64_t at = offset + begin * bytes_each;
      if (source.read(at, wanted) < wanted.size()) {
        throw error_at(source, at, "the file has become shorter while it was read");
      }
      for (std::int64_t k = begin; k < end; ++k) {
        use(k, load_big_endian<Stored>(buffer.data() + (k - begin) * bytes_each));
      }
    }
  });
}

/// Integers of a file, whatever their size there.
template <class Use>
void read_integers(const ByteSource& source, std::int64_t index_bytes, std::int64_t offset,
                   std::int64_t count, Use&& use) {
  if (index_bytes == 4) {
    read_array<std::int32_t>(source, offset, count, use);
  } else {
    read_array<std::int64_t>(source, offset, count, use);
  }
}

/// Finite doubles; anything else is an InputError.
inline void read_values(const ByteSource& source, std::int64_t offset, std::span<double> values) {
  read_array<double>(source, offset, static_cast<std::int64_t>(values.size()),
                     [&](std::int64_t k, double value) {
                       if (!std::isfinite(value))
                         throw error_at(source, offset + 8 * k, "the value is infinite or not a number");
                       values[static_cast<std::size_t>(k)] = value;
                     });
}

}  // namespace ayatori::io::petsc
