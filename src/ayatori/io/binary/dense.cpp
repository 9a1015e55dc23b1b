#include "ayatori/io/binary/dense.hpp"

#include <algorithm>
#include <vector>

namespace ayatori::io {

Array<sparse::Entry> read_dense_share(NumberStream& numbers, const DenseShape& shape, Range share) {
  constexpr std::int64_t chunk = 8192;
  Array<sparse::Entry> entries;
  std::vector<double> values;
  numbers.skip(share.begin);
  for (std::int64_t begin = share.begin; begin < share.end; begin += chunk) {
    values.resize(static_cast<std::size_t>(numbers.parts() * std::min(chunk, share.end - begin)));
    numbers.reals(values);
    for (std::int64_t k = 0; k < std::ssize(values); ++k) {
      if (values[k] == 0) continue;
      const std::int64_t at = begin + k / numbers.parts();
      const std::int64_t row = shape.by_columns ? at % shape.rows : at / shape.columns;
      const std::int64_t column = shape.by_columns ? at / shape.rows : at % shape.columns;
      entries.push_back({row, numbers.parts() * column + k % numbers.parts(), values[k]});
    }
  }
  return entries;
}

}  // namespace ayatori::io
