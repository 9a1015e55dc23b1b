#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/block_products.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"
#include "ayatori/solvers/preconditioners/spectrum.hpp"

namespace ayatori::solvers {

namespace {

/// y = p(D^-1 A) D^-1 x with p of degree k such that 1 - t p(t) is the Chebyshev polynomial T_{k+1} of [a,
/// b], scaled to 1 at t = 0: the smallest possible on [a, b] (Saad, Iterative Methods, algorithm 12.1). For
/// symmetric positive definite A it is so too while p > 0, that is for all t > 0 if k is even, and for t < a
/// + b if k is odd. Traffic: k products with A and 32 + 56 k bytes per row.
class Chebyshev final : public sparse::LinearOperator, public sparse::BlockOperator {
 public:
  Chebyshev(const sparse::DistributedMatrix& matrix, Array<double> inverse, double a, double b, int degree)
      : comm_(matrix.comm()),
        matrix_(matrix),
        inverse_(std::move(inverse)),
        centre_((a + b) / 2),
        radius_((b - a) / 2),
        degree_(degree) {
    make_room(1);
  }

  void apply(std::span<const double> x, std::span<double> y) const override { apply<1>(x, y); }
  void apply_block(std::span<const double> x, std::span<double> y, int width) const override {
    if (width > room_) comm::agree(comm_, [&] { make_room(width); });
    sparse::with_width(width, [&](auto w) { apply<w()>(x, y); });
  }
  std::int32_t local_size() const override { return static_cast<std::int32_t>(inverse_.size()); }

 private:
  void make_room(int width) const {
    room_ = width;
    const std::int64_t size = std::int64_t{local_size()} * width;
    product_.resize(size);
    step_.resize(size);
    parallel_for(local_size(), [&](std::int64_t i) {
      for (std::int64_t k = i * width; k < (i + 1) * width; ++k) product_[k] = step_[k] = 0;
    });
  }

  template <int Width>
  void apply(std::span<const double> x, std::span<double> y) const {
    const std::size_t size = inverse_.size() * Width;
    const std::span<double> product = std::span<double>(product_).first(size);
    const std::span<double> step = std::span<double>(step_).first(size);
    parallel_for(local_size(), [&](std::int64_t i) {
      for (std::int64_t k = i * Width; k < (i + 1) * Width; ++k)
        y[k] = step[k] = inverse_[i] * x[k] / centre_;
    });
    const double sigma = centre_ / radius_;
    double rho = 1 / sigma;
    for (int j = 0; j < degree_; ++j) {
      const double next = 1 / (2 * sigma - rho);
      const double keep = next * rho;
      const double gain = 2 * next / radius_;
      matrix_.apply(y, product, Width);
      parallel_for(local_size(), [&](std::int64_t i) {
        for (std::int64_t k = i * Width; k < (i + 1) * Width; ++k) {
          step[k] = keep * step[k] + gain * inverse_[i] * (x[k] - product[k]);
          y[k] += step[k];
        }
      });
      rho = next;
    }
  }

  comm::Comm comm_;
  BlockProducts matrix_;
  Array<double> inverse_;  ///< D^-1
  mutable Array<double> product_;
  mutable Array<double> step_;
  double centre_;
  double radius_;
  int degree_;
  mutable int room_ = 0;  ///< vectors of a block that there is memory for
};

/// b / a. In terms of the angle cosh(u / (k+1)) = (b + a) / (b - a), the preconditioned eigenvalues of [a, b]
/// lie within 1 +- 1 / cosh(u); this ratio makes u about 2 and that 1 +- 0.27 for every degree. A larger one
/// would gain little for the eigenvalues below a, which the method is left with.
double interval_ratio(int degree) {
  return (degree + 1.0) * (degree + 1.0) + 1;
}

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum& sum,
                         const PreconditionerOptions& options) {
  check_degree("chebyshev", options.degree);
  InverseDiagonal diagonal = invert_diagonal(matrix, "chebyshev");
  const double b = spectrum_bound(matrix, diagonal.value, sum, options.degree);
  const double a = b / interval_ratio(options.degree);
  BuiltPreconditioner built{
      std::make_unique<Chebyshev>(matrix, std::move(diagonal.value), a, b, options.degree), diagonal.notes()};
  built.notes.push_back(fmt::format("for eigenvalues of D^-1 A in [{:.3g}, {:.3g}]", a, b));
  return built;
}

}  // namespace

const Preconditioner chebyshev_preconditioner{
    "chebyshev", "Chebyshev polynomial in the Jacobi-scaled matrix", true, 12, 4.5, make, {.degree = true}};

}  // namespace ayatori::solvers
