#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/methods/methods.hpp"
#include "ayatori/solvers/methods/monitor.hpp"
#include "ayatori/solvers/methods/workspace.hpp"

namespace ayatori::solvers {

namespace {

/// The scalars of the QR factorisation of the Lanczos tridiagonal matrix, a column at a time (Paige &
/// Saunders 1975).
struct LanczosQr {
  double cosine = -1;
  double sine = 0;
  double delta_bar = 0;
  double epsilon_next = 0;
  double phi_bar = 0;

  double epsilon = 0;
  double delta = 0;
  double gamma = 0;
  double phi = 0;

  /// Takes the next column, alpha on the diagonal and beta_next below. False if the matrix is singular then.
  bool append(double alpha, double beta_next) {
    epsilon = epsilon_next;
    delta = cosine * delta_bar + sine * alpha;
    const double gamma_bar = sine * delta_bar - cosine * alpha;
    epsilon_next = sine * beta_next;
    delta_bar = -cosine * beta_next;
    gamma = std::hypot(gamma_bar, beta_next);
    // Not greater also where something is NaN.
    if (!(gamma > 4 * std::numeric_limits<double>::epsilon() * (std::abs(alpha) + beta_next))) return false;
    cosine = gamma_bar / gamma;
    sine = beta_next / gamma;
    phi = cosine * phi_bar;
    phi_bar = sine * phi_bar;
    return true;
  }
};

/// MINRES (Paige & Saunders 1975) with a symmetric positive definite preconditioner. What it minimises is the
/// residual in the norm of M; what it reports and stops on is the residual in the 2-norm, of the vector
/// carried along as r_k = s_k^2 r_(k-1) - phi_bar_k c_k v_(k+1). The products for its norm ride in the
/// reduction of beta, so that an iteration makes two reductions. Traffic beside A and M: 23 doubles per row
/// and iteration.
class Minres {
 public:
  Minres(const System& system, Vector x, const MethodOptions& options, const Progress& progress)
      : system_(system),
        x_(x),
        work_(system.sum.comm(), x.size(), 9),
        best_(x, work_[8]),
        monitor_(system, options, progress, scaled_residual(system, x, v_)) {}

  MethodResult solve() {
    if (!monitor_.stopped()) start();
    while (!monitor_.stopped()) {
      const double alpha = extend_basis();
      const Products products = orthogonality();
      advance(alpha, products);
    }
    monitor_.correct(best_.restore());
    return monitor_.result();
  }

 private:
  /// Sums over ranks: (v, M v), (r, v), (v, v) of the next Lanczos vector v, and (r, r).
  struct Products {
    double vz, rv, vv, rr;
  };

  void start() {
    system_.m.apply(v_, z_);
    const double square = dot(system_.sum, v_, z_);
    if (!check_preconditioner(square)) return;
    copy(v_, r_);
    fill(v_old_, 0);
    fill(w_, 0);
    fill(w_old_, 0);
    beta_ = std::sqrt(square);
    qr_.phi_bar = beta_;
    local_rr_ = local_dot(r_, r_);
  }

  /// q = A z - beta v_old - alpha v, with z = M v. The v are left unscaled: of norm beta, where the
  /// literature has 1.
  double extend_basis() {
    scale(1 / beta_, z_);
    system_.a.apply(z_, q_);
    const double factor = beta_old_ > 0 ? -beta_ / beta_old_ : 0;
    const double alpha = system_.sum(axpy_dot(factor, v_old_, q_, z_));
    axpy(-alpha / beta_, v_, q_);
    return alpha;
  }

  Products orthogonality() {
    system_.m.apply(q_, z_next_);
    const auto [rv, vv] = local_dot_and_square(r_, q_);
    std::array<double, 4> sums{local_dot(q_, z_next_), rv, vv, local_rr_};
    system_.sum(sums);
    return {sums[0], sums[1], sums[2], sums[3]};
  }

  void advance(double alpha, const Products& products) {
    // beta_1 is the norm of a residual; only the later ones are on the scale of A M, as alpha is.
    const double scale_of_am = std::abs(alpha) + (beta_old_ > 0 ? beta_ : 0);
    const double negligible = 10 * std::numeric_limits<double>::epsilon() * scale_of_am;
    const bool space_ended = std::abs(products.vz) <= negligible * negligible;
    if (!space_ended && !check_preconditioner(products.vz)) return;
    const double beta_next = space_ended ? 0 : std::sqrt(products.vz);
    const double phi_bar_old = qr_.phi_bar;
    if (!qr_.append(alpha, beta_next)) {
      monitor_.breakdown(
          fmt::format("A is singular on the Krylov space: alpha = {:.3g}, beta = {:.3g}", alpha, beta_next));
      return;
    }
    const double keep = qr_.sine * qr_.sine;
    const double add = -phi_bar_old * qr_.cosine / qr_.gamma;
    const double square = keep * keep * products.rr + 2 * keep * add * products.rv + add * add * products.vv;
    finish_step(std::sqrt(square < 0 ? 0 : square), keep, add);
    if (space_ended && !monitor_.stopped()) monitor_.breakdown("the Krylov space has ended: beta vanished");
    std::swap(v_, v_old_);
    std::swap(v_, q_);
    std::swap(z_, z_next_);
    std::swap(w_, w_old_);
    beta_old_ = beta_;
    beta_ = beta_next;
  }

  void finish_step(double norm, double keep, double add) {
    monitor_.step(norm);
    if (!std::isfinite(norm)) return;
    best_.before_update(norm);
    advance_minres(z_, qr_.epsilon, w_old_, qr_.delta, w_, 1 / qr_.gamma, qr_.phi * monitor_.unit(), x_);
    local_rr_ = axpby_square(add, q_, keep, r_);
    // The norm above is a difference of products: a claim of convergence is checked on the vector itself.
    if (monitor_.meets_target(norm)) monitor_.correct(std::sqrt(system_.sum(local_rr_)));
  }

  bool check_preconditioner(double square) {
    if (square > 0 && std::isfinite(square)) return true;
    monitor_.breakdown(
        std::isfinite(square)
            ? fmt::format("the preconditioner is not positive definite: v^T M v = {:.3g}", square)
            : fmt::format("v^T M v is not finite ({}): NaN or infinity in the matrix or the preconditioner",
                          square));
    return false;
  }

  const System& system_;
  Vector x_;
  Workspace work_;
  Vector v_ = work_[0];
  Vector v_old_ = work_[1];
  Vector q_ = work_[2];  ///< becomes the next v
  Vector z_ = work_[3];
  Vector z_next_ = work_[4];
  Vector w_ = work_[5];
  Vector w_old_ = work_[6];  ///< becomes the next w
  Vector r_ = work_[7];
  BestIterate best_;
  Monitor monitor_;
  LanczosQr qr_;
  double beta_ = 0;
  double beta_old_ = 0;
  double local_rr_ = 0;
};

MethodResult solve_minres(const System& system, Vector x, const MethodOptions& options, const Orthogonalize&,
                          const Progress& progress) {
  return Minres(system, x, options, progress).solve();
}

}  // namespace

const Method minres_method{.name = "minres",
                           .description = "minimal residuals, for symmetric matrices, also indefinite",
                           .needs_symmetric = true,
                           .needs_definite = false,
                           .needs_symmetric_preconditioner = true,
                           .restarts = false,
                           .traffic = 23,
                           .solve = solve_minres};

}  // namespace ayatori::solvers
