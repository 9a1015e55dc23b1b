#include <algorithm>
#include <type_traits>

#include "ayatori/sparse/kernels/kernels.hpp"
#include "ayatori/sparse/kernels/row_product.hpp"
#include "ayatori/sparse/kernels/thread_groups.hpp"
#include "ayatori/sparse/pattern/row_order.hpp"

namespace ayatori::sparse {

namespace {

/// Compressed sparse rows over threads. Every thread multiplies the rows that it has copied into memory
/// itself; one alone multiplies the matrix where it is. The loop over a row is unrolled into this many
/// independent sums (Katagiri & Kuroda, item iv). Traffic: 12 bytes per nonzero (8 in single precision), 8
/// per row, and the vectors.
template <int Unroll, class Real>
class CsrThreaded final : public KernelOf<Real> {
 public:
  CsrThreaded(const Csr& matrix, double scale) : groups_(matrix.row_start), order_(matrix.row_start) {
    if constexpr (std::is_same_v<Real, double>) {
      if (groups_.size() == 1 && scale == 1) {
        row_start_ = matrix.row_start;
        column_ = matrix.column;
        value_ = matrix.value;
        return;
      }
    }
    copy(matrix, scale);
    row_start_ = own_row_start_;
    column_ = own_column_;
    value_ = own_value_;
  }

  void multiply(std::span<const Real> x, std::span<Real> y) const override {
    groups_.for_each([&](int, Range rows) {
      with_simd(best_simd(),
                [&]<int Width>() [[gnu::always_inline]] { multiply_rows(rows, x.data(), y.data()); });
    });
  }

  std::int64_t matrix_bytes() const override {
    return static_cast<std::int64_t>((4 + sizeof(Real)) * value_.size() + 8 * row_start_.size()) +
           order_.bytes();
  }

 private:
  void copy(const Csr& matrix, double scale) {
    own_row_start_.resize(matrix.row_start.size());
    own_column_.resize(matrix.column.size());
    own_value_.resize(matrix.value.size());
    own_row_start_[0] = 0;
    groups_.for_each([&](int, Range rows) {
      const std::int64_t first = matrix.row_start[rows.begin];
      const std::int64_t last = matrix.row_start[rows.end];
      std::copy(&matrix.row_start[rows.begin] + 1, &matrix.row_start[rows.end] + 1,
                &own_row_start_[rows.begin] + 1);
      std::copy(matrix.column.begin() + first, matrix.column.begin() + last, own_column_.begin() + first);
      for (std::int64_t k = first; k < last; ++k) own_value_[k] = static_cast<Real>(scale * matrix.value[k]);
    });
  }

  [[gnu::always_inline]] void multiply_rows(Range rows, const Real* x, Real* y) const {
    const std::int32_t* column = column_.data();
    const Real* value = value_.data();
    order_.for_each(rows, [&](auto i) [[gnu::always_inline]] {
      if constexpr (Unroll == 1)
        y[i] = row_product_in_vectors(value, column, row_start_[i], row_start_[i + 1], x);
      else
        y[i] = row_product<Unroll>(value, column, row_start_[i], row_start_[i + 1], x);
    });
  }

  ThreadGroups groups_;
  RowOrder order_;
  Array<std::int64_t> own_row_start_;
  Array<std::int32_t> own_column_;
  Array<Real> own_value_;
  std::span<const std::int64_t> row_start_;
  std::span<const std::int32_t> column_;
  std::span<const Real> value_;
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

const KernelType csr_kernel{.name = "csr",
                            .description = "compressed sparse rows, threads of equal nonzeros",
                            .conversion_products = 1,
                            .predicted_bytes = predicted_bytes,
                            .indexed_accesses = indexed_accesses,
                            .make = make<1>,
                            .make_float = make_float<1>,
                            .compressed_rows = true};
const KernelType csr_unroll2_kernel{.name = "csr-unroll2",
                                    .description = "csr with the loop over a row unrolled into 2 sums",
                                    .conversion_products = 1,
                                    .predicted_bytes = predicted_bytes,
                                    .indexed_accesses = indexed_accesses,
                                    .make = make<2>,
                                    .make_float = make_float<2>,
                                    .compressed_rows = true};
const KernelType csr_unroll4_kernel{.name = "csr-unroll4",
                                    .description = "csr with the loop over a row unrolled into 4 sums",
                                    .conversion_products = 1,
                                    .predicted_bytes = predicted_bytes,
                                    .indexed_accesses = indexed_accesses,
                                    .make = make<4>,
                                    .make_float = make_float<4>,
                                    .compressed_rows = true};
const KernelType csr_unroll8_kernel{.name = "csr-unroll8",
                                    .description = "csr with the loop over a row unrolled into 8 sums",
                                    .conversion_products = 1,
                                    .predicted_bytes = predicted_bytes,
                                    .indexed_accesses = indexed_accesses,
                                    .make = make<8>,
                                    .make_float = make_float<8>,
                                    .compressed_rows = true};

}  // namespace ayatori::sparse
