#include "ayatori/io/binary/dense.hpp"

namespace ayatori::io {

Array<sparse::Entry> read_dense_share(NumberStream& numbers, const DenseShape& shape, Range share) {
  Array<sparse::Entry> entries;
  const std::int64_t parts = numbers.parts();
  std::int64_t k = parts * share.begin;
  numbers.for_each_in<double>(share, [&](double value) {
    const std::int64_t at = k / parts;
    const std::int64_t part = k++ % parts;
    if (value == 0) return;
    const std::int64_t row = shape.by_columns ? at % shape.rows : at / shape.columns;
    const std::int64_t column = shape.by_columns ? at / shape.rows : at % shape.columns;
    entries.push_back({row, parts * column + part, value});
  });
  return entries;
}

}  // namespace ayatori::io
