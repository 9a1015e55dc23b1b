#pragma once

#include "ayatori/solvers/methods/monitor.hpp"

// What conjugate gradients, in whatever form, need of the matrix and of the preconditioner.

namespace ayatori::solvers {

/// r^T M r must be positive for a residual r other than 0. False, and the method ended, if it is not.
bool check_preconditioner(Monitor& monitor, double rho);

/// p^T A p must be positive. False, and the method ended, if it is not.
bool check_curvature(Monitor& monitor, double curvature);

/// To be called after a curvature p^T A p that is not positive, with p and A p. Whether that is more than
/// rounding is told in the result. Collective.
void examine_curvature(Monitor& monitor, const GlobalSum& sum, ConstVector p, ConstVector ap,
                       double curvature);

/// Share of z^T A z that must be left of it for p^T A p, summed from its parts, to be as good as the product
/// itself.
inline constexpr double safe_curvature_share = 0.01;

}  // namespace ayatori::solvers
