#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/products/block_operator.hpp"
#include "ayatori/sparse/products/float_operator.hpp"

namespace ayatori::solvers {

namespace {

/// y = D^-1 x. Traffic: 24 bytes per row.
class Jacobi final : public sparse::LinearOperator,
                     public sparse::BlockOperator,
                     public sparse::FloatApplicable {
 public:
  explicit Jacobi(Array<double> inverse) : inverse_(std::move(inverse)) {}

  void apply(std::span<const double> x, std::span<double> y) const override {
    parallel_for(local_size(), [&](std::int64_t i) { y[i] = inverse_[i] * x[i]; });
  }
  void apply_float(std::span<const float> x, std::span<float> y, double scale) const override {
    parallel_for(local_size(), [&](std::int64_t i) {
      y[i] = static_cast<float>(scale * inverse_[i] * static_cast<double>(x[i]));
    });
  }
  void apply_block(std::span<const double> x, std::span<double> y, int width) const override {
    parallel_for(local_size(), [&](std::int64_t i) {
      for (int c = 0; c < width; ++c) y[i * width + c] = inverse_[i] * x[i * width + c];
    });
  }
  std::int32_t local_size() const override { return static_cast<std::int32_t>(inverse_.size()); }

 private:
  Array<double> inverse_;
};

/// The same of a complex matrix. Traffic: 24 bytes per row of the real form.
class ComplexJacobi final : public sparse::LinearOperator {
 public:
  explicit ComplexJacobi(Array<Complex> inverse) : inverse_(std::move(inverse)) {}

  void apply(std::span<const double> x, std::span<double> y) const override {
    parallel_for(static_cast<std::int64_t>(inverse_.size()),
                 [of_x = as_complex(x), of_y = as_complex(y), this](std::int64_t i) {
                   of_y[i] = times(inverse_[i], of_x[i]);
                 });
  }
  std::int32_t local_size() const override { return 2 * static_cast<std::int32_t>(inverse_.size()); }

 private:
  Array<Complex> inverse_;
};

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  if (options.matrix_is_complex) {
    auto diagonal = invert_complex_diagonal(matrix, "jacobi");
    return {std::make_unique<ComplexJacobi>(std::move(diagonal.value)), diagonal.notes()};
  }
  InverseDiagonal diagonal = invert_diagonal(matrix, "jacobi");
  return {std::make_unique<Jacobi>(std::move(diagonal.value)), diagonal.notes()};
}

}  // namespace

const Preconditioner jacobi_preconditioner{
    .name = "jacobi", .description = "the inverse of the diagonal", .symmetric = true, .make = make};

}  // namespace ayatori::solvers
