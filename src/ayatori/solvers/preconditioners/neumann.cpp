#include <algorithm>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/block_products.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"
#include "ayatori/solvers/preconditioners/spectrum.hpp"

namespace ayatori::solvers {

namespace {

/// y = p(D^-1 A) D^-1 x with p(t) = w sum_{j=0}^{k} (1 - w t)^j = (1 - (1 - w t)^{k+1}) / t, which tends to 1
/// / t: the matrix polynomial of Katagiri & Kuroda, and k + 1 damped Jacobi sweeps from zero. For symmetric
/// positive definite A it is so too while p > 0, that is for all t > 0 if k is even, and for t < 2 / w if k
/// is odd. Traffic: k products with A and 24 + 40 k bytes per row.
class Neumann final : public sparse::LinearOperator, public sparse::BlockOperator {
 public:
  Neumann(const sparse::DistributedMatrix& matrix, Array<double> damped_inverse, int degree)
      : comm_(matrix.comm()), matrix_(matrix), inverse_(std::move(damped_inverse)), degree_(degree) {
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
    product_.resize(std::int64_t{local_size()} * width);
    parallel_for(local_size(), [&](std::int64_t i) {
      for (std::int64_t k = i * width; k < (i + 1) * width; ++k) product_[k] = 0;
    });
  }

  template <int Width>
  void apply(std::span<const double> x, std::span<double> y) const {
    const std::span<double> product = std::span<double>(product_).first(inverse_.size() * Width);
    const auto for_each = [&](auto&& body) {
      parallel_for(local_size(), [&](std::int64_t i) {
        for (std::int64_t k = i * Width; k < (i + 1) * Width; ++k) body(i, k);
      });
    };
    for_each([&](std::int64_t i, std::int64_t k) { y[k] = inverse_[i] * x[k]; });
    for (int j = 0; j < degree_; ++j) {
      matrix_.apply(y, product, Width);
      for_each([&](std::int64_t i, std::int64_t k) { y[k] += inverse_[i] * (x[k] - product[k]); });
    }
  }

  comm::Comm comm_;
  BlockProducts matrix_;
  Array<double> inverse_;  ///< w D^-1
  mutable Array<double> product_;
  int degree_;
  mutable int room_ = 0;  ///< vectors of a block that there is memory for
};

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum& sum,
                         const PreconditionerOptions& options) {
  check_degree("neumann", options.degree);
  InverseDiagonal diagonal = invert_diagonal(matrix, "neumann");
  // The series converges for w t < 2. Odd degrees keep a distance, as their p vanishes there.
  const double limit = options.degree % 2 == 0 ? 2 : 1.9;
  const double bound = spectrum_bound(matrix, diagonal.value, sum, options.degree);
  const double damping = std::min(1.0, limit / bound);
  parallel_for(matrix.local_size(), [&](std::int64_t i) { diagonal.value[i] *= damping; });
  auto op = comm::agree(matrix.comm(), [&] {
    return std::make_unique<Neumann>(matrix, std::move(diagonal.value), options.degree);
  });
  BuiltPreconditioner built{std::move(op), diagonal.notes()};
  if (damping < 0.999)
    built.notes.push_back(
        fmt::format("damped by {:.3g}, as D^-1 A has eigenvalues up to {:.3g}", damping, bound));
  return built;
}

}  // namespace

const Preconditioner neumann_preconditioner{
    "neumann", "truncated Neumann series of the Jacobi-scaled matrix", true, 12, 4.5, make, {.degree = true}};

}  // namespace ayatori::solvers
