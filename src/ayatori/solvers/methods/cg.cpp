#include <array>
#include <cmath>

#include "ayatori/solvers/methods/definiteness.hpp"
#include "ayatori/solvers/methods/methods.hpp"
#include "ayatori/solvers/methods/monitor.hpp"
#include "ayatori/solvers/methods/workspace.hpp"

namespace ayatori::solvers {

namespace {

/// Preconditioned conjugate gradients (Hestenes & Stiefel 1952) with one reduction in an iteration, after
/// Chronopoulos & Gear (1989): A p comes from A z by the recurrence of p, and so does p^T A p = z^T A z +
/// 2 beta z^T A p_old + beta^2 p_old^T A p_old, which is summed on its own where most of it cancels. Theirs
/// takes z^T A p_old for what it would be without rounding, and loses the conjugacy of the p to that on
/// ill-conditioned systems.
///
/// The norm of a residual is summed with the products of the next iteration, which would be in vain after the
/// last: where the target is near it is summed before them. Traffic beside A and M: 14 doubles per row and
/// iteration, 16 where the residual norm rises.
class Cg {
 public:
  Cg(const System& system, Vector x, const MethodOptions& options, const Progress& progress)
      : system_(system),
        x_(x),
        work_(system.sum.comm(), x.size(), system.split != nullptr ? 7 : 6),
        best_(x, work_[5]),
        monitor_(system, options, progress, first_residual(system, x, r_)) {
    if (system.split != nullptr) u_ = work_[6];
  }

  MethodResult solve() {
    if (monitor_.stopped()) return monitor_.result();
    fill(p_, 0);
    fill(q_, 0);
    do {
      iterate();
    } while (resumes());
    monitor_.correct(best_.restore());
    return monitor_.result();
  }

 private:
  /// From r, of which the norm is known, until the method ends.
  void iterate() {
    double local_square = 0;
    while (!meets_target(local_square)) {
      const Products products = multiply(local_square);
      const double beta = next_share(products);
      if (rho_ > 0) {
        const double norm = std::sqrt(products.rr);
        monitor_.step(norm, 1, r_);
        if (!std::isfinite(norm)) break;
        best_.before_update(norm);
      }
      if (monitor_.stopped()) {
        axpy(alpha_ * monitor_.unit(), p_, x_);
        break;
      }
      axpy_aypx(alpha_ * monitor_.unit(), p_, x_, beta, z_);
      if (!check_preconditioner(monitor_, products.rz)) break;
      rho_ = products.rz;
      curvature_ = products.zaz + 2 * beta * products.zap + beta * beta * curvature_;
      const bool cancels = !(curvature_ >= safe_curvature_share * products.zaz);
      if (cancels) {
        aypx(beta, w_, q_);
        curvature_ = dot(system_.sum, p_, image_of_p());
      }
      if (!check_curvature(monitor_, curvature_)) {
        if (!cancels) aypx(beta, w_, q_);
        examine_curvature(monitor_, system_.sum, p_, image_of_p(), curvature_);
        break;
      }
      alpha_ = rho_ / curvature_;
      local_square = cancels ? axpy_square(-alpha_, q_, r_) : aypx_axpy_square(beta, w_, q_, -alpha_, r_);
    }
  }

  /// Whether the method goes on from the true residual, with the last direction.
  bool resumes() {
    if (!monitor_.resumes(r_, best_)) return false;
    rho_ = alpha_ = 0;
    return true;
  }

  /// Whether the last direction leads to the target, which is asked for only where that is likely; then x is
  /// there.
  bool meets_target(double local_square) {
    if (!monitor_.expects_target()) return false;
    const double norm = std::sqrt(system_.sum(local_square));
    if (!monitor_.meets_target(norm, r_)) return false;
    monitor_.step(norm);
    best_.before_update(norm);
    axpy(alpha_ * monitor_.unit(), p_, x_);
    return true;
  }

  /// A p, whose image in the split system is q. Overwrites w.
  ConstVector image_of_p() {
    if (system_.split == nullptr) return q_;
    system_.split->from_split(q_, w_);
    return w_;
  }

  /// Sums over ranks, with z = M r and p the last direction.
  struct Products {
    double rr, rz, zaz, zap;
  };

  /// Share of the last direction in the next one. Where r does not follow from the last one, that alone keeps
  /// the two conjugate.
  double next_share(const Products& products) const {
    if (rho_ > 0) return products.rz / rho_;
    return curvature_ > 0 ? -products.zap / curvature_ : 0;
  }

  Products multiply(double local_square) {
    const ConstVector u = system_.apply_m_and_a(r_, z_, w_, u_);
    std::array<double, 4> sums{};
    local_products({{r_, u}, {u, w_}, {u, q_}}, sums);
    sums[3] = local_square;
    system_.sum(sums);
    return {sums[3], sums[0], sums[1], sums[2]};
  }

  const System& system_;
  Vector x_;
  Workspace work_;
  Vector r_ = work_[0];
  Vector z_ = work_[1];
  Vector w_ = work_[2];  ///< A z
  Vector p_ = work_[3];
  Vector q_ = work_[4];  ///< A p
  Vector u_;             ///< stands for z in products of a split system
  BestIterate best_;
  Monitor monitor_;
  double rho_ = 0;  ///< rho of the last direction; 0 before the first, and where r was computed anew
  double curvature_ = 0;
  double alpha_ = 0;
};

MethodResult solve_cg(const System& system, Vector x, const MethodOptions& options, const Orthogonalize&,
                      const Progress& progress) {
  return Cg(system, x, options, progress).solve();
}

}  // namespace

const Method cg_method{.name = "cg",
                       .description = "conjugate gradients, for symmetric positive definite matrices",
                       .needs_symmetric = true,
                       .needs_definite = true,
                       .needs_symmetric_preconditioner = true,
                       .restarts = false,
                       .traffic = 14,
                       .solve = solve_cg,
                       .takes_split = true};

}  // namespace ayatori::solvers
