#include "ayatori/solvers/preconditioners/polynomials/chebyshev.hpp"

#include <utility>

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/polynomials/polynomial_operator.hpp"
#include "ayatori/solvers/preconditioners/polynomials/spectrum.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

namespace {

/// Traffic: k products with A and 32 + 56 k bytes per row.
class Chebyshev final : public PolynomialOperator<Chebyshev, 2> {
 public:
  Chebyshev(const sparse::DistributedMatrix& matrix, Array<double> inverse, ChebyshevTerms terms)
      : PolynomialOperator(matrix, std::move(inverse)), terms_(std::move(terms)) {}

  template <int Width>
  void apply_polynomial(std::span<const double> x, std::span<double> y) const {
    const auto product = work<Width>(0);
    const auto step = work<Width>(1);
    for_each<Width>([&](double inverse, std::int64_t k) { y[k] = step[k] = inverse * x[k] * terms_.first; });
    for (const auto& [keep, gain] : terms_.later) {
      multiply(y, product, Width);
      for_each<Width>([&, keep = keep, gain = gain](double inverse, std::int64_t k) {
        step[k] = keep * step[k] + gain * inverse * (x[k] - product[k]);
        y[k] += step[k];
      });
    }
  }

 private:
  ChebyshevTerms terms_;
};

/// b / a. In terms of the angle cosh(u / (k+1)) = (b + a) / (b - a), the preconditioned eigenvalues of [a, b]
/// lie within 1 +- 1 / cosh(u); this ratio makes u about 2 and that 1 +- 0.27 for every degree. A larger one
/// would gain little for the eigenvalues below a, which the method is left with.
double interval_ratio(int degree) {
  return (degree + 1.0) * (degree + 1.0) + 1;
}

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum& sum,
                         const PreconditionerOptions& options) {
  ChebyshevSetUp set_up = set_up_chebyshev(matrix, sum, options.degree);
  return {std::make_unique<Chebyshev>(matrix, std::move(set_up.diagonal.value), std::move(set_up.terms)),
          std::move(set_up.notes)};
}

}  // namespace

ChebyshevTerms chebyshev_terms(double a, double b, int degree) {
  const double centre = (a + b) / 2;
  const double radius = (b - a) / 2;
  ChebyshevTerms terms{1 / centre, {}};
  if (radius <= 0) {
    terms.later.assign(degree, {0, 1 / centre});
    return terms;
  }
  const double sigma = centre / radius;
  double rho = 1 / sigma;
  for (int j = 0; j < degree; ++j) {
    const double next = 1 / (2 * sigma - rho);
    terms.later.push_back({next * rho, 2 * next / radius});
    rho = next;
  }
  return terms;
}

ChebyshevSetUp set_up_chebyshev(const sparse::DistributedMatrix& matrix, const GlobalSum& sum, int degree) {
  check_degree("chebyshev", degree);
  InverseDiagonal diagonal = invert_diagonal(matrix, "chebyshev");
  const double b = spectrum_bound(matrix, diagonal.value, sum, degree);
  const double a = b / interval_ratio(degree);
  std::vector<std::string> notes = diagonal.notes();
  notes.push_back(fmt::format("for eigenvalues of D^-1 A in [{:.3g}, {:.3g}]", a, b));
  return {std::move(diagonal), chebyshev_terms(a, b, degree), std::move(notes)};
}

const Preconditioner chebyshev_preconditioner{
    .name = "chebyshev",
    .description = "Chebyshev polynomial in the Jacobi-scaled matrix",
    .symmetric = true,
    .make = make,
    .obeys = {.degree = true}};

}  // namespace ayatori::solvers
