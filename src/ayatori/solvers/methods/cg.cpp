#include <array>
#include <cmath>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/methods/methods.hpp"
#include "ayatori/solvers/methods/monitor.hpp"
#include "ayatori/solvers/methods/workspace.hpp"

namespace ayatori::solvers {

namespace {

/// r^T M r must be positive for a residual r other than 0. False, and the method ended, if it is not.
bool check_preconditioner(Monitor& monitor, double rho) {
  if (rho > 0 && std::isfinite(rho)) return true;
  monitor.breakdown(
      fmt::format("the preconditioner is not positive definite: r^T M r = {:.3g} ||r_0||^2", rho));
  return false;
}

/// p^T A p must be positive. False, and the method ended, if it is not.
bool check_curvature(Monitor& monitor, double curvature) {
  if (curvature > 0 && std::isfinite(curvature)) return true;
  monitor.breakdown(
      std::isfinite(curvature)
          ? fmt::format("the matrix is not positive definite: p^T A p = {:.3g}", curvature)
          : fmt::format("p^T A p is not finite ({}): NaN or infinity in the matrix, or overflow", curvature));
  return false;
}

/// Preconditioned conjugate gradients (Hestenes & Stiefel 1952). Two reductions in an iteration: p^T A p,
/// then r^T M r bundled with r^T r. Traffic beside A and M: 13 doubles per row and iteration, 15 where the
/// residual norm rises.
MethodResult solve_cg(const System& system, Vector x, const MethodOptions& options, const Orthogonalize&,
                      const Progress& progress) {
  const auto& [a, m, b, sum] = system;
  Workspace work(sum.comm(), x.size(), 5);
  const Vector r = work[0];
  const Vector z = work[1];
  const Vector p = work[2];
  const Vector q = work[3];
  BestIterate best(x, work[4]);

  Monitor monitor(system, options, progress, scaled_residual(system, x, r));
  if (monitor.stopped()) return monitor.result();
  m.apply(r, z);
  double rho = dot(sum, r, z);
  if (!check_preconditioner(monitor, rho)) return monitor.result();
  copy(z, p);

  while (!monitor.stopped()) {
    a.apply(p, q);
    const double curvature = dot(sum, p, q);
    if (!check_curvature(monitor, curvature)) break;
    const double alpha = rho / curvature;
    std::array<double, 2> products{axpy_square(-alpha, q, r), 0};
    m.apply(r, z);
    products[1] = local_dot(r, z);
    sum(products);

    const double norm = std::sqrt(products[0]);
    monitor.step(norm);
    if (!std::isfinite(norm)) break;
    best.before_update(norm);
    const double beta = products[1] / rho;
    axpy_aypx(alpha * monitor.unit(), p, x, beta, z);
    rho = products[1];
    if (!monitor.stopped()) check_preconditioner(monitor, rho);
  }
  monitor.correct(best.restore());
  return monitor.result();
}

}  // namespace

const Method cg_method{.name = "cg",
                       .description = "conjugate gradients, for symmetric positive definite matrices",
                       .needs_symmetric = true,
                       .needs_definite = true,
                       .needs_symmetric_preconditioner = true,
                       .restarts = false,
                       .traffic = 13,
                       .solve = solve_cg};

}  // namespace ayatori::solvers
