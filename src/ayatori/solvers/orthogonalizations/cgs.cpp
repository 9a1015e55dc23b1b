#include <cmath>

#include "ayatori/solvers/orthogonalizations/gram_schmidt_pass.hpp"
#include "ayatori/solvers/orthogonalizations/orthogonalizations.hpp"

namespace ayatori::solvers {

namespace {

/// Share of (w, w) that must be left for Pythagoras to give the norm to all but its last digit or two.
constexpr double safe_share = 0.1;

/// Classical Gram-Schmidt: all coefficients from one pass, in one reduction. The norm afterwards comes from
/// Pythagoras where nothing cancels, and otherwise from a second reduction. Loses orthogonality with the
/// square of the condition of what it orthogonalizes (Giraud, Langou, Rozloznik & van den Eshof 2005).
double apply_cgs(const GlobalSum& sum, const Basis& basis, Vector w, std::span<double> h) {
  const PassSquares squares = gram_schmidt_pass(sum, basis, w, h);
  if (squares.pythagoras() >= safe_share * squares.before) return std::sqrt(squares.pythagoras());
  return std::sqrt(sum(squares.local_after));
}

}  // namespace

const Orthogonalization cgs_orthogonalization{
    .name = "cgs",
    .description = "classical Gram-Schmidt: one reduction, or two where much cancels",
    .apply = apply_cgs};

}  // namespace ayatori::solvers
