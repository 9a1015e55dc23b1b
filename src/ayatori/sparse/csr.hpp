#pragma once

#include <cstdint>
#include <span>

#include "ayatori/base/array.hpp"

namespace ayatori::sparse {

/// A sparse matrix held by one rank, in compressed sparse rows. Within a row the columns ascend and are
/// unique. Storage: 4 + sizeof(Scalar) bytes per stored entry + 8 per row.
template <class Scalar>
struct CsrOf {
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  Array<std::int64_t> row_start;  ///< rows + 1; row i is [row_start[i], row_start[i + 1])
  Array<std::int32_t> column;     ///< local column of each entry
  Array<Scalar> value;

  std::int64_t nonzeros() const { return static_cast<std::int64_t>(value.size()); }
};
using Csr = CsrOf<double>;

/// y = A x, each row's sum taken in storage order: the definition of the product, which every kernel is
/// compared with. Threads share the rows, so the result does not depend on their number.
void multiply_reference(const Csr& matrix, std::span<const double> x, std::span<double> y);

}  // namespace ayatori::sparse
