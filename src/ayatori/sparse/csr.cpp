#include "ayatori/sparse/csr.hpp"

#include "ayatori/base/parallel.hpp"

namespace ayatori::sparse {

void multiply_reference(const Csr& matrix, std::span<const double> x, std::span<double> y) {
  parallel_for(matrix.rows, [&](std::int64_t i) {
    double sum = 0;
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      sum += matrix.value[k] * x[matrix.column[k]];
    }
    y[i] = sum;
  });
}

}  // namespace ayatori::sparse
