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
    values.resize(static_cast<std::size_t>(std::min(chunk, share.end - begin)));
    numbers.reals(values);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k] == 0) continue;
      const std::int64_t at = begin + static_cast<std::int64_t>(k);
      if (shape.by_columns)
        entries.push_back({at % shape.rows, at / shape.rows, values[k]});
      else
        entries.push_back({at / shape.columns, at % shape.columns, values[k]});
    }
  }
  return entries;
}

}  // namespace ayatori::io
