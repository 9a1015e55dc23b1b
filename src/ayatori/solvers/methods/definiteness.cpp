#include "ayatori/solvers/methods/definiteness.hpp"

#include <cmath>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers {

bool check_preconditioner(Monitor& monitor, double rho) {
  if (rho > 0 && std::isfinite(rho)) return true;
  monitor.breakdown(
      fmt::format("the preconditioner is not positive definite: r^T M r = {:.3g} ||r_0||^2", rho));
  return false;
}

bool check_curvature(Monitor& monitor, double curvature) {
  if (curvature > 0 && std::isfinite(curvature)) return true;
  monitor.breakdown(
      std::isfinite(curvature)
          ? fmt::format("the matrix is not positive definite: p^T A p = {:.3g}", curvature)
          : fmt::format("p^T A p is not finite ({}): NaN or infinity in the matrix, or overflow", curvature));
  return false;
}

void examine_curvature(Monitor& monitor, const GlobalSum& sum, ConstVector p, ConstVector ap,
                       double curvature) {
  constexpr double rounding = 1e-8;  // far above what sums of products lose
  if (curvature < -rounding * norm(sum, p) * norm(sum, ap)) monitor.proves_indefinite();
}

}  // namespace ayatori::solvers
