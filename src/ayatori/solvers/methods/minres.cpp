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
/// carried along as r_k = s_k^2 r_(k-1) - phi_bar_k c_k v_(k+1).
///
/// One reduction in an iteration: a Lanczos vector is normalised only after the product with A, so that its
/// norm is summed together with alpha. The numbers are the same as with two reductions, as long as the cube
/// of the norm of A M is a double: from 1e-100 to 1e100. The price is a product more in all: the norm of a
/// residual is known after the product that the next iteration needs.
/// Traffic beside A and M: 18 doubles per row and iteration.
class Minres {
 public:
  Minres(const System& system, Vector x, const MethodOptions& options, const Progress& progress)
      : system_(system),
        x_(x),
        work_(system.sum.comm(), x.size(), system.split != nullptr ? 10 : 9),
        best_(x, work_[8]),
        monitor_(system, options, progress, first_residual(system, x, v_)) {
    if (system.split != nullptr) u_ = work_[9];
  }

  MethodResult solve() {
    if (!monitor_.stopped()) start();
    while (!monitor_.stopped()) {
      const Products products = multiply();
      if (is_first_) {
        if (!check_preconditioner(products.vz)) break;
        beta_ = qr_.phi_bar = std::sqrt(products.vz);
        is_first_ = false;
      } else {
        end_iteration(products);
      }
      if (!monitor_.stopped()) extend_basis(products);
    }
    monitor_.correct(best_.restore());
    return monitor_.result();
  }

 private:
  /// Sums over ranks, with z = M v and q = A z for the newest Lanczos vector v, which is not normalised.
  struct Products {
    double vz, zq, zv_old, rv, vv, rr;
  };

  void start() {
    copy(v_, r_);
    fill(v_old_, 0);
    fill(w_, 0);
    fill(w_old_, 0);
    local_rr_ = local_dot(r_, r_);
  }

  Products multiply() {
    const ConstVector u = system_.apply_m_and_a(v_, z_, q_, u_);
    std::array<double, 6> sums{};
    local_products({{v_, u}, {u, q_}, {u, v_old_}, {r_, v_}, {v_, v_}}, sums);
    sums.back() = local_rr_;
    system_.sum(sums);
    return {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]};
  }

  /// The column of the tridiagonal matrix that beta completes, and with it x and r.
  void end_iteration(const Products& products) {
    // beta_1 is the norm of a residual; only the later ones are on the scale of A M, as alpha is.
    const double scale_of_am = std::abs(alpha_) + (beta_old_ > 0 ? beta_ : 0);
    const double negligible = 10 * std::numeric_limits<double>::epsilon() * scale_of_am;
    const bool space_ended = std::abs(products.vz) <= negligible * negligible;
    if (!space_ended && !check_preconditioner(products.vz)) return;
    const double beta_next = space_ended ? 0 : std::sqrt(products.vz);
    const double phi_bar_old = qr_.phi_bar;
    if (!qr_.append(alpha_, beta_next)) {
      monitor_.breakdown(
          fmt::format("A is singular on the Krylov space: alpha = {:.3g}, beta = {:.3g}", alpha_, beta_next));
      return;
    }
    const double keep = qr_.sine * qr_.sine;
    const double add = -phi_bar_old * qr_.cosine / qr_.gamma;
    const double square = keep * keep * products.rr + 2 * keep * add * products.rv + add * add * products.vv;
    update(std::sqrt(square < 0 ? 0 : square), keep, add);
    if (space_ended && !monitor_.stopped()) monitor_.breakdown("the Krylov space has ended: beta vanished");
    std::swap(w_, w_old_);
    beta_old_ = beta_;
    beta_ = beta_next;
  }

  void update(double norm, double keep, double add) {
    local_rr_ = axpby_square(add, v_, keep, r_);
    monitor_.step(norm, 1, r_);
    if (!std::isfinite(norm)) return;
    best_.before_update(norm);
    advance_minres(z_old_, qr_.epsilon * beta_, w_old_, qr_.delta * beta_, w_, 1 / (qr_.gamma * beta_),
                   qr_.phi * monitor_.unit(), x_);
    // The norm above is a difference of products: a claim of convergence is checked on the vector itself.
    if (monitor_.meets_target(norm)) monitor_.correct(std::sqrt(system_.sum(local_rr_)));
  }

  /// alpha = (z, A z - beta v_old) and the next v = A z - beta v_old - alpha v, of normalised vectors. The v
  /// are left unscaled, of norm beta, and z is M v.
  void extend_basis(const Products& products) {
    const double factor = beta_old_ > 0 ? -beta_ / beta_old_ : 0;
    alpha_ = products.zq / beta_ / beta_ + factor * (products.zv_old / beta_);
    axpbypcz(factor, v_old_, -alpha_ / beta_, v_, 1 / beta_, q_);
    std::swap(v_, v_old_);
    std::swap(v_, q_);
    std::swap(z_, z_old_);
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
  Vector z_old_ = work_[4];
  Vector w_ = work_[5];
  Vector w_old_ = work_[6];  ///< becomes the next w
  Vector r_ = work_[7];
  Vector u_;  ///< stands for z in products of a split system
  BestIterate best_;
  Monitor monitor_;
  LanczosQr qr_;
  bool is_first_ = true;  ///< no Lanczos vector is normalised yet
  double alpha_ = 0;
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
                           .traffic = 18,
                           .solve = solve_minres,
                           .takes_split = true};

}  // namespace ayatori::solvers
