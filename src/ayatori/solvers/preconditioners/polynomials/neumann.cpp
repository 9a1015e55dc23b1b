#include <algorithm>
#include <utility>

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/polynomials/polynomial_operator.hpp"
#include "ayatori/solvers/preconditioners/polynomials/spectrum.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

namespace {

/// y = p(D^-1 A) D^-1 x with p(t) = w sum_{j=0}^{k} (1 - w t)^j = (1 - (1 - w t)^{k+1}) / t, which tends to 1
/// / t: the matrix polynomial of Katagiri & Kuroda, and k + 1 damped Jacobi sweeps from zero. For symmetric
/// positive definite A it is so too while p > 0, that is for all t > 0 if k is even, and for t < 2 / w if k
/// is odd. Traffic: k products with A and 24 + 40 k bytes per row.
class Neumann final : public PolynomialOperator<Neumann, 1> {
 public:
  Neumann(const sparse::DistributedMatrix& matrix, Array<double> damped_inverse, int degree)
      : PolynomialOperator(matrix, std::move(damped_inverse)), degree_(degree) {}

  template <int Width>
  void apply_polynomial(std::span<const double> x, std::span<double> y) const {
    const auto product = work<Width>(0);
    for_each<Width>([&](double inverse, std::int64_t k) { y[k] = inverse * x[k]; });
    for (int j = 0; j < degree_; ++j) {
      multiply(y, product, Width);
      for_each<Width>([&](double inverse, std::int64_t k) { y[k] += inverse * (x[k] - product[k]); });
    }
  }

 private:
  int degree_;
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
    .name = "neumann",
    .description = "truncated Neumann series of the Jacobi-scaled matrix",
    .symmetric = true,
    .make = make,
    .obeys = {.degree = true}};

}  // namespace ayatori::solvers
