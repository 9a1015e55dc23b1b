#include <algorithm>
#include <cmath>
#include <limits>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/methods/hessenberg_least_squares.hpp"
#include "ayatori/solvers/methods/methods.hpp"
#include "ayatori/solvers/methods/monitor.hpp"
#include "ayatori/solvers/methods/workspace.hpp"

namespace ayatori::solvers {

namespace {

/// A cycle that shrinks the residual by no more than this share would be repeated for ever.
constexpr double no_progress = 1e-10;

/// Basis vectors before a restart: as asked for, but no more than can be needed. Collective.
int basis_size(const System& system, const MethodOptions& options, std::size_t local_size) {
  const double order = system.sum(static_cast<double>(local_size));
  const double useful =
      std::min({static_cast<double>(options.restart), static_cast<double>(options.max_iterations), order});
  return std::max(1, static_cast<int>(useful));
}

/// GMRES(m) (Saad & Schultz 1986), preconditioned from the right so that its residual is that of A x = b, and
/// FGMRES (Saad 1993), which keeps every preconditioned vector and so lets the preconditioner change.
class Gmres {
 public:
  Gmres(const System& system, Vector x, const MethodOptions& options, const Orthogonalize& orthogonalize,
        const Progress& progress, bool flexible)
      : system_(system),
        x_(x),
        orthogonalize_(orthogonalize),
        flexible_(flexible),
        m_(basis_size(system, options, x.size())),
        work_(system.sum.comm(), x.size(), (m_ + 1) + (flexible ? m_ : 1)),
        least_squares_(comm::agree(system.sum.comm(), [&] { return HessenbergLeastSquares(m_); })),
        h_(orthogonalization_work_size(m_)),
        monitor_(system, options, progress, scaled_residual(system, x, v(0))) {}

  MethodResult solve() {
    double residual = 1;
    while (!monitor_.stopped()) {
      const bool complete = build_basis(residual);
      if (!update() || (monitor_.stopped() && complete)) break;
      residual = restart(residual);
    }
    return monitor_.result();
  }

 private:
  Vector v(int j) { return work_[j]; }
  /// M v_j: kept for every j when flexible, otherwise one work vector.
  Vector z(int j) { return work_[m_ + 1 + (flexible_ ? j : 0)]; }

  /// One cycle: an orthonormal basis of the Krylov space from v_0, and with it the least squares problem.
  /// False if the space ended before m vectors: then it holds the solution, or A is singular.
  bool build_basis(double residual) {
    least_squares_.restart(residual);
    for (int j = 0; j < m_ && !monitor_.stopped(); ++j) {
      const Vector w = v(j + 1);
      system_.m.apply(v(j), z(j));
      system_.a.apply(z(j), w);
      const double norm = orthogonalize_(system_.sum, work_.basis(0, j + 1), w, h_);
      if (!append(j, norm)) return false;
      monitor_.step(least_squares_.residual());
      if (is_end_of_space(j, norm)) return false;
      scale(1 / norm, w);
    }
    return true;
  }

  /// Takes column j into the least squares problem, or ends the method with the reason why that is
  /// impossible.
  bool append(int j, double norm) {
    if (least_squares_.append(h_, norm)) return true;
    monitor_.step(least_squares_.residual());
    monitor_.breakdown(
        std::isfinite(norm)
            ? fmt::format("A M is singular on the Krylov space of {} vectors: h({},{}) = {:.3g}", j + 1,
                          j + 2, j + 1, norm)
            : fmt::format(
                  "A M v is not finite in step {}: NaN or infinity in the matrix or the preconditioner, or "
                  "overflow",
                  j + 1));
    return false;
  }

  /// Whether A M v_j had nothing outside the space, to working precision (Saad & Schultz's lucky breakdown).
  bool is_end_of_space(int j, double norm) const {
    double size = norm;
    for (int i = 0; i <= j; ++i) size = std::max(size, std::abs(h_[i]));
    return norm <= 10 * std::numeric_limits<double>::epsilon() * size;
  }

  /// x = x + M V y, or x + Z y when flexible. The update stays in v_m or z_0 until the next cycle. False, and
  /// x as it was, if there is none to make or it is not finite.
  bool update() {
    const int k = least_squares_.columns();
    if (k == 0) return false;
    const auto y = least_squares_.solve();
    combine(flexible_ ? work_.basis(m_ + 1, k) : work_.basis(0, k), y, v(m_));
    if (!flexible_) system_.m.apply(v(m_), z(0));
    if (!std::isfinite(system_.sum(local_max_abs(last_update())))) {
      monitor_.breakdown(fmt::format("the correction of x from {} vectors overflows", k));
      return false;
    }
    axpy(monitor_.unit(), last_update(), x_);
    return true;
  }
  Vector last_update() { return flexible_ ? v(m_) : z(0); }

  /// Computes the residual anew, and v_0 from it. Returns its norm, in units of the first; ends the method
  /// where the cycle was of no use. An update that made the residual worse, which only lost orthogonality can
  /// do, is taken back.
  double restart(double before) {
    const double unit = scaled_residual(system_, x_, v(0));
    const double now = unit / monitor_.unit();
    if (!(now <= before)) {
      axpy(-monitor_.unit(), last_update(), x_);
      monitor_.correct(before);
      monitor_.stagnated(
          fmt::format("a cycle of {} vectors made the residual norm grow from {:.3g} to {:.3g}: its basis "
                      "had lost orthogonality, or the limit of double precision is reached",
                      least_squares_.columns(), before * monitor_.unit(), unit));
      return before;
    }
    monitor_.correct(now);
    if (!monitor_.stopped() && !flexible_ && now > (1 - no_progress) * before) {
      monitor_.stagnated(
          fmt::format("a cycle of {} vectors left the residual norm at {:.3g}: the next would repeat it",
                      least_squares_.columns(), unit));
    }
    return now;
  }

  const System& system_;
  Vector x_;
  const Orthogonalize& orthogonalize_;
  bool flexible_;
  int m_;
  Workspace work_;
  HessenbergLeastSquares least_squares_;
  Array<double> h_;
  Monitor monitor_;
};

MethodResult solve_gmres(const System& system, Vector x, const MethodOptions& options,
                         const Orthogonalize& orthogonalize, const Progress& progress) {
  return Gmres(system, x, options, orthogonalize, progress, false).solve();
}

MethodResult solve_fgmres(const System& system, Vector x, const MethodOptions& options,
                          const Orthogonalize& orthogonalize, const Progress& progress) {
  return Gmres(system, x, options, orthogonalize, progress, true).solve();
}

}  // namespace

const Method gmres_method{.name = "gmres",
                          .description = "restarted GMRES, for any matrix",
                          .needs_symmetric = false,
                          .needs_definite = false,
                          .needs_symmetric_preconditioner = false,
                          .restarts = true,
                          .solve = solve_gmres};

const Method fgmres_method{.name = "fgmres",
                           .description = "GMRES that lets the preconditioner change, for twice the memory",
                           .needs_symmetric = false,
                           .needs_definite = false,
                           .needs_symmetric_preconditioner = false,
                           .restarts = true,
                           .solve = solve_fgmres};

}  // namespace ayatori::solvers
