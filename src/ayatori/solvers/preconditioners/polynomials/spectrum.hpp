#pragma once

#include <string_view>

#include "ayatori/base/array.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

// How large the eigenvalues of D^-1 A are, for preconditioners that are polynomials in it. D^-1 is
// `inverse_diagonal`.

namespace ayatori::solvers {

/// Collective. The largest row sum of |D^-1 A|: no eigenvalue is larger (Gershgorin).
double gershgorin_bound(const sparse::DistributedMatrix& matrix, const Array<double>& inverse_diagonal);

/// Collective. The largest eigenvalue that `steps` steps of Lanczos see in D^-1 A, in the inner product of
/// |D|, from a random start that does not depend on the number of ranks. Not above the largest eigenvalue if
/// A is symmetric positive definite; without meaning, and perhaps not finite, for other A. One product and
/// two reductions per step.
double lanczos_estimate(const sparse::DistributedMatrix& matrix, const Array<double>& inverse_diagonal,
                        const GlobalSum& sum, int steps);

/// Collective. What a polynomial of this degree should take for the largest eigenvalue of D^-1 A: the
/// estimate of 10 Lanczos steps with a safety factor of 1.1, but neither below 1 (the mean of the
/// eigenvalues) nor above Gershgorin's bound. For odd degrees it is that bound itself: even polynomials of
/// our kinds are positive beyond the interval that they are made for, odd ones are not, so that an estimate
/// could cost a definite matrix its definite preconditioner.
double spectrum_bound(const sparse::DistributedMatrix& matrix, const Array<double>& inverse_diagonal,
                      const GlobalSum& sum, int degree);

/// Throws InputError, the same on all ranks if they pass the same, unless 0 <= degree <= 100.
void check_degree(std::string_view who, int degree);

}  // namespace ayatori::solvers
