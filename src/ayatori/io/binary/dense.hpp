#pragma once

#include "ayatori/base/array.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/io/binary/numbers.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::io {

/// An array of two dimensions in a file.
struct DenseShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool by_columns = false;  ///< one column behind the other
};

/// The entries of a share of the numbers, in their order, that are not zero; of complex ones all parts.
Array<sparse::Entry> read_dense_share(NumberStream& numbers, const DenseShape& shape, Range share);

}  // namespace ayatori::io
