#include <utility>

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/polynomials/polynomial_operator.hpp"
#include "ayatori/solvers/preconditioners/polynomials/spectrum.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

namespace {

/// y = p(D^-1 A) D^-1 x with p of degree k such that 1 - t p(t) is the Chebyshev polynomial T_{k+1} of [a,
/// b], scaled to 1 at t = 0: the smallest possible on [a, b] (Saad, Iterative Methods, algorithm 12.1). For
/// symmetric positive definite A it is so too while p > 0, that is for all t > 0 if k is even, and for t < a
/// + b if k is odd. Traffic: k products with A and 32 + 56 k bytes per row.
class Chebyshev final : public PolynomialOperator<Chebyshev, 2> {
 public:
  Chebyshev(const sparse::DistributedMatrix& matrix, Array<double> inverse, double a, double b, int degree)
      : PolynomialOperator(matrix, std::move(inverse)),
        centre_((a + b) / 2),
        radius_((b - a) / 2),
        degree_(degree) {}

  template <int Width>
  void apply_polynomial(std::span<const double> x, std::span<double> y) const {
    const auto product = work<Width>(0);
    const auto step = work<Width>(1);
    for_each<Width>([&](double inverse, std::int64_t k) { y[k] = step[k] = inverse * x[k] / centre_; });
    const double sigma = centre_ / radius_;
    double rho = 1 / sigma;
    for (int j = 0; j < degree_; ++j) {
      const double next = 1 / (2 * sigma - rho);
      const double keep = next * rho;
      const double gain = 2 * next / radius_;
      multiply(y, product, Width);
      for_each<Width>([&](double inverse, std::int64_t k) {
        step[k] = keep * step[k] + gain * inverse * (x[k] - product[k]);
        y[k] += step[k];
      });
      rho = next;
    }
  }

 private:
  double centre_;
  double radius_;
  int degree_;
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
    .name = "chebyshev",
    .description = "Chebyshev polynomial in the Jacobi-scaled matrix",
    .symmetric = true,
    .make = make,
    .obeys = {.degree = true}};

}  // namespace ayatori::solvers
