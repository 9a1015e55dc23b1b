#include <cmath>

#include "ayatori/solvers/orthogonalizations/gram_schmidt_pass.hpp"
#include "ayatori/solvers/orthogonalizations/orthogonalizations.hpp"

namespace ayatori::solvers {

namespace {

/// A pass that leaves this share of (w, w) has lost no orthogonality: eta^2 with eta = 1/sqrt(2) of Daniel,
/// Gragg, Kaufman & Stewart (1976).
constexpr double kept_share = 0.5;

/// Two passes are enough unless w lies in the span to working precision (Kahan, in Parlett 1980); what is
/// left after one more is noise.
constexpr int most_passes = 3;

/// Classical Gram-Schmidt, repeated while a pass has taken away most of w. A pass brings the exact (w, w)
/// before it with its own reduction, so that a single pass costs one reduction and a repeated one two: as
/// stable as Householder's.
template <class Scalar, class Coefficient>
double repeat_passes(const GlobalSum& sum, const BasisOf<Scalar>& basis, std::span<Scalar> w,
                     std::span<Coefficient> h) {
  const auto k = static_cast<std::size_t>(basis.size);
  PassSquares squares = gram_schmidt_pass(sum, basis, w, h);
  const std::span<Coefficient> correction = h.subspan(k + 1);
  for (int pass = 1; pass < most_passes && squares.pythagoras() < kept_share * squares.before; ++pass) {
    squares = gram_schmidt_pass(sum, basis, w, correction);
    for (std::size_t j = 0; j < k; ++j) h[j] += correction[j];
  }
  if (squares.pythagoras() >= kept_share * squares.before) return std::sqrt(squares.pythagoras());
  return std::sqrt(sum(squares.local_after));
}

double apply_ircgs_in_double(const GlobalSum& sum, const Basis& basis, Vector w, std::span<double> h) {
  return repeat_passes(sum, basis, w, h);
}

}  // namespace

double apply_ircgs(const GlobalSum& sum, const FloatBasis& basis, FloatVector w, std::span<double> h) {
  return repeat_passes(sum, basis, w, h);
}

double apply_ircgs(const GlobalSum& sum, const ComplexBasis& basis, ComplexVector w, std::span<Complex> h) {
  return repeat_passes(sum, basis, w, h);
}

const Orthogonalization ircgs_orthogonalization{
    .name = "ircgs",
    .description = "classical Gram-Schmidt, repeated where much cancels: stable with one or two reductions",
    .apply = apply_ircgs_in_double};

}  // namespace ayatori::solvers
