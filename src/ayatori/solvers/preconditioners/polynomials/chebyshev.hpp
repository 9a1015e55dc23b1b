#pragma once

#include <string>
#include <vector>

#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::solvers {

/// y = p(D^-1 A) D^-1 x with p of degree k such that 1 - t p(t) is the Chebyshev polynomial T_{k+1} of [a,
/// b], scaled to 1 at t = 0: the smallest possible on [a, b] (Saad, Iterative Methods, algorithm 12.1). For
/// symmetric positive definite A it is so too while p > 0, that is for all t > 0 if k is even, and for t < a
/// + b if k is odd. As a recurrence:
/// y = step = first D^-1 x; then, for every later term, step = keep step + gain D^-1 (x - A y), y = y + step.
struct ChebyshevTerms {
  struct Term {
    double keep;
    double gain;
  };
  double first;
  std::vector<Term> later;  ///< as many as the degree
};

/// Those of [a, b]; where both are the same, damped Jacobi.
ChebyshevTerms chebyshev_terms(double a, double b, int degree);

/// What the preconditioner is made of.
struct ChebyshevSetUp {
  InverseDiagonal diagonal;
  ChebyshevTerms terms;
  std::vector<std::string> notes;
};

/// Collective. For the eigenvalues of D^-1 A as spectrum_bound() has them. Throws InputError (agreed).
ChebyshevSetUp set_up_chebyshev(const sparse::DistributedMatrix& matrix, const GlobalSum& sum, int degree);

}  // namespace ayatori::solvers
