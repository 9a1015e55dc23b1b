#include <algorithm>

#include "ayatori/sparse/kernels/kernels.hpp"
#include "ayatori/sparse/kernels/row_product.hpp"
#include "ayatori/sparse/kernels/thread_groups.hpp"

namespace ayatori::sparse {

namespace {

/// Compressed sparse rows over threads. Every thread multiplies the rows that it has copied into memory
/// itself. The loop over a row is unrolled into so many independent sums (Katagiri & Kuroda, item iv).
/// Traffic: 12 bytes per nonzero (8 in single precision), 8 per row, and the vectors.
template <int Unroll, class Real>
class CsrThreaded final : public KernelOf<Real> {
 public:
  CsrThreaded(const Csr& matrix, double scale)
      : groups_(matrix.row_start),
        row_start_(matrix.row_start.size()),
        column_(matrix.column.size()),
        value_(matrix.value.size()) {
    row_start_[0] = 0;
    groups_.for_each([&](int, Range rows) {
      const std::int64_t first = matrix.row_start[rows.begin];
      const std::int64_t last = matrix.row_start[rows.end];
      std::copy(&matrix.row_start[rows.begin] + 1, &matrix.row_start[rows.end] + 1,
                &row_start_[rows.begin] + 1);
      std::copy(matrix.column.begin() + first, matrix.column.begin() + last, column_.begin() + first);
      for (std::int64_t k = first; k < last; ++k) value_[k] = static_cast<Real>(scale * matrix.value[k]);
    });
  }

  void multiply(std::span<const Real> x, std::span<Real> y) const override {
    groups_.for_each([&](int, Range rows) { multiply_rows(rows, x.data(), y.data()); });
  }

  std::int64_t matrix_bytes() const override {
    return static_cast<std::int64_t>((4 + sizeof(Real)) * value_.size() + 8 * row_start_.size());
  }

 private:
  void multiply_rows(Range rows, const Real* x, Real* y) const {
    const std::int32_t* column = column_.data();
    const Real* value = value_.data();
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      y[i] = row_product<Unroll>(value, column, row_start_[i], row_start_[i + 1], x);
  }

  ThreadGroups groups_;
  Array<std::int64_t> row_start_;
  Array<std::int32_t> column_;
  Array<Real> value_;
};

std::optional<std::int64_t> predicted_bytes(const PatternFacts& facts) {
  return csr_bytes(facts.rows, facts.nonzeros);
}

double indexed_accesses(const PatternFacts& facts) {
  return static_cast<double>(facts.nonzeros);
}

template <int Unroll>
std::unique_ptr<Kernel> make(const Csr& matrix) {
  return std::make_unique<CsrThreaded<Unroll, double>>(matrix, 1);
}

template <int Unroll>
std::unique_ptr<FloatKernel> make_float(const Csr& matrix, double scale) {
  return std::make_unique<CsrThreaded<Unroll, float>>(matrix, scale);
}

}  // namespace

const KernelType csr_kernel{"csr",
                            "compressed sparse rows, threads of equal nonzeros",
                            1,
                            predicted_bytes,
                            indexed_accesses,
                            make<1>,
                            {},
                            make_float<1>};
const KernelType csr_unroll2_kernel{"csr-unroll2",
                                    "csr with the loop over a row unrolled into 2 sums",
                                    1,
                                    predicted_bytes,
                                    indexed_accesses,
                                    make<2>,
                                    {},
                                    make_float<2>};
const KernelType csr_unroll4_kernel{"csr-unroll4",
                                    "csr with the loop over a row unrolled into 4 sums",
                                    1,
                                    predicted_bytes,
                                    indexed_accesses,
                                    make<4>,
                                    {},
                                    make_float<4>};
const KernelType csr_unroll8_kernel{"csr-unroll8",
                                    "csr with the loop over a row unrolled into 8 sums",
                                    1,
                                    predicted_bytes,
                                    indexed_accesses,
                                    make<8>,
                                    {},
                                    make_float<8>};

}  // namespace ayatori::sparse
