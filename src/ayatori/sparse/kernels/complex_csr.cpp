#include "ayatori/sparse/complex_form.hpp"
#include "ayatori/sparse/kernels/kernels.hpp"
#include "ayatori/sparse/kernels/simd.hpp"
#include "ayatori/sparse/kernels/thread_groups.hpp"

namespace ayatori::sparse {

namespace {

constexpr std::string_view name = "complex-csr";

std::int64_t bytes_of(std::int64_t rows, std::int64_t nonzeros) {
  return 8 * (rows / 2 + 1) + (16 + 4) * (nonzeros / 4);
}

/// The real form of a complex matrix, of which the complex entries are stored, in compressed sparse rows.
/// Traffic: 5 bytes per nonzero of the real form, 4 per row, and the vectors.
class ComplexCsr final : public Kernel {
 public:
  explicit ComplexCsr(const Csr& real_form)
      : matrix_(complex_matrix(real_form)), groups_(matrix_.row_start) {}

  void multiply(std::span<const double> x, std::span<double> y) const override {
    groups_.for_each([&](int, Range rows) {
      with_simd(
          best_simd(), [&]<int Width>() __attribute__((always_inline)) {
            for (std::int64_t i = rows.begin; i < rows.end; ++i) multiply_row(i, x.data(), y.data());
          });
    });
  }

  std::int64_t matrix_bytes() const override { return bytes_of(2 * matrix_.rows, 4 * matrix_.nonzeros()); }

 private:
  /// Two entries at a time. Real parts times x are summed apart from imaginary parts times x, which are
  /// turned by i at the end.
  [[gnu::always_inline]] void multiply_row(std::int64_t i, const double* x, double* y) const {
    std::int64_t k = matrix_.row_start[i];
    const std::int64_t end = matrix_.row_start[i + 1];
    const std::int32_t* const column = matrix_.column.data();
    const double* const value = as_pairs(std::span(matrix_.value)).data();
    Vector<4> by_real{};
    Vector<4> by_imaginary{};
    for (; k + 2 <= end; k += 2) {
      const auto values = load<4>(value + 2 * k);
      const double* x0 = x + 2 * std::int64_t{column[k]};
      const double* x1 = x + 2 * std::int64_t{column[k + 1]};
      const Vector<4> of_x{x0[0], x0[1], x1[0], x1[1]};
      by_real += __builtin_shufflevector(values, values, 0, 0, 2, 2) * of_x;
      by_imaginary += __builtin_shufflevector(values, values, 1, 1, 3, 3) * of_x;
    }
    double real = (by_real[0] + by_real[2]) - (by_imaginary[1] + by_imaginary[3]);
    double imaginary = (by_real[1] + by_real[3]) + (by_imaginary[0] + by_imaginary[2]);
    if (k < end) {
      const double* xk = x + 2 * std::int64_t{column[k]};
      real += value[2 * k] * xk[0] - value[2 * k + 1] * xk[1];
      imaginary += value[2 * k] * xk[1] + value[2 * k + 1] * xk[0];
    }
    y[2 * i] = real;
    y[2 * i + 1] = imaginary;
  }

  CsrOf<Complex> matrix_;
  ThreadGroups groups_;  // groups of complex rows
};

std::optional<std::int64_t> predicted_bytes(const PatternFacts& facts) {
  if (!facts.real_form) return std::nullopt;
  return bytes_of(facts.rows, facts.nonzeros);
}

/// An entry finds both parts of its element of x by one column.
double indexed_accesses(const PatternFacts& facts) {
  return static_cast<double>(facts.nonzeros) / 2;
}

std::unique_ptr<Kernel> make(const Csr& matrix) {
  if (!is_real_form(matrix)) cannot_hold(name, "it is not the real form of a complex matrix");
  return std::make_unique<ComplexCsr>(matrix);
}

}  // namespace

const KernelType complex_csr_kernel{.name = name,
                                    .description = "compressed sparse rows of a complex matrix",
                                    .conversion_products = 2,
                                    .predicted_bytes = predicted_bytes,
                                    .indexed_accesses = indexed_accesses,
                                    .make = make};

}  // namespace ayatori::sparse
