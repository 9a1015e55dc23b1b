#include "ayatori/solvers/preconditioners/polynomials/gmres_polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/methods/workspace.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/polynomials/harmonic_ritz.hpp"
#include "ayatori/solvers/preconditioners/polynomials/polynomial_operator.hpp"
#include "ayatori/solvers/preconditioners/polynomials/spectrum.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

namespace {

/// Applied by its roots, pairs of conjugates in real arithmetic. Traffic: as many products with A as there
/// are roots but one, and at most 72 bytes per row for each.
class GmresPolynomial final : public PolynomialOperator<GmresPolynomial, 3> {
 public:
  GmresPolynomial(const sparse::DistributedMatrix& matrix, Array<double> inverse,
                  std::vector<std::complex<double>> roots)
      : PolynomialOperator(matrix, std::move(inverse)), roots_(std::move(roots)) {}

  /// `product` is what the factors so far make of D^-1 x; y grows by what each factor adds to p.
  template <int Width>
  void apply_polynomial(std::span<const double> x, std::span<double> y) const {
    const auto product = work<Width>(0);
    const auto step = work<Width>(1);
    const auto image = work<Width>(2);
    for_each<Width>([&](double inverse, std::int64_t k) {
      product[k] = inverse * x[k];
      y[k] = 0;
    });
    for (std::size_t j = 0; j < roots_.size(); ++j) {
      const bool is_last = j + 1 == roots_.size();
      if (roots_[j].imag() == 0) {
        const double factor = 1 / roots_[j].real();
        if (!is_last) multiply(product, step, Width);
        for_each<Width>([&](double inverse, std::int64_t k) {
          y[k] += factor * product[k];
          if (!is_last) product[k] -= factor * inverse * step[k];
        });
        continue;
      }
      const double twice = 2 * roots_[j].real();
      const double factor = 1 / std::norm(roots_[j]);
      ++j;  // the conjugate
      multiply(product, step, Width);
      for_each<Width>([&](double inverse, std::int64_t k) {
        step[k] = twice * product[k] - inverse * step[k];
        y[k] += factor * step[k];
      });
      if (j + 1 == roots_.size()) break;
      multiply(step, image, Width);
      for_each<Width>([&](double inverse, std::int64_t k) { product[k] -= factor * inverse * image[k]; });
    }
  }

 private:
  std::vector<std::complex<double>> roots_;
};

/// Collective. The harmonic Ritz values of D^-1 A after at most `steps` steps from a random start that does
/// not depend on the number of ranks.
std::vector<std::complex<double>> find_roots(const sparse::DistributedMatrix& matrix, const GlobalSum& sum,
                                             const Array<double>& inverse, int steps) {
  Workspace basis(matrix.comm(), inverse.size(), steps + 1);
  const std::int64_t first_row = matrix.partition().range(matrix.comm().rank()).begin;
  const Vector start = basis[0];
  parallel_for(matrix.local_size(),
               [&](std::int64_t i) { start[i] = random_uniform(3, first_row + i) - 0.5; });
  const double length = norm(sum, start);
  if (!(length > 0)) return {};
  scale(1 / length, start);
  std::vector<std::vector<double>> columns;
  std::vector<double> h(orthogonalization_work_size(steps));
  double below = 0;
  for (int j = 0; j < steps; ++j) {
    const Vector w = basis[j + 1];
    matrix.apply(basis[j], w);
    parallel_for(matrix.local_size(), [&](std::int64_t i) { w[i] *= inverse[i]; });
    below = orthogonalization("ircgs").apply(sum, basis.basis(0, j + 1), w, h);
    columns.emplace_back(h.begin(), h.begin() + j + 1);
    columns.back().push_back(below);
    double size = below;
    for (int i = 0; i <= j; ++i) size = std::max(size, std::abs(h[i]));
    if (!(below > 1e-12 * size)) {  // the space ends: the polynomial is exact on it
      below = 0;
      break;
    }
    scale(1 / below, w);
  }
  const auto d = columns.size();
  std::vector<double> hessenberg(d * d, 0.0);
  for (std::size_t j = 0; j < d; ++j)
    for (std::size_t i = 0; i < std::min(d, columns[j].size()); ++i) hessenberg[i + d * j] = columns[j][i];
  return leja_ordered(harmonic_ritz_values(static_cast<int>(d), hessenberg, below));
}

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum& sum,
                         const PreconditionerOptions& options) {
  GmresPolynomialSetUp set_up = set_up_gmres_polynomial(matrix, sum, options.degree);
  auto notes = set_up.diagonal.notes();
  return {comm::agree(matrix.comm(),
                      [&] {
                        return std::make_unique<GmresPolynomial>(matrix, std::move(set_up.diagonal.value),
                                                                 std::move(set_up.roots));
                      }),
          std::move(notes)};
}

}  // namespace

GmresPolynomialSetUp set_up_gmres_polynomial(const sparse::DistributedMatrix& matrix, const GlobalSum& sum,
                                             int degree) {
  check_degree("gmres-polynomial", degree);
  InverseDiagonal diagonal = invert_diagonal(matrix, "gmres-polynomial");
  auto roots = find_roots(matrix, sum, diagonal.value, degree + 1);
  if (roots.empty() && matrix.global_rows() > 0)
    throw_error(
        ErrorKind::bad_input,
        "gmres-polynomial: the matrix is singular, or not finite, on the space that its polynomial is "
        "made from",
        true);
  return {std::move(diagonal), std::move(roots)};
}

const Preconditioner gmres_polynomial_preconditioner{
    .name = "gmres-polynomial",
    .description = "the polynomial that GMRES makes in the Jacobi-scaled matrix",
    .symmetric = false,
    .make = make,
    .obeys = {.degree = true}};

}  // namespace ayatori::solvers
