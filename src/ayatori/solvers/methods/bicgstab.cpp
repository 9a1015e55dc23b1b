#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/solvers/methods/methods.hpp"
#include "ayatori/solvers/methods/monitor.hpp"
#include "ayatori/solvers/methods/workspace.hpp"

namespace ayatori::solvers {

namespace {

/// New shadow residuals before a breakdown is final.
constexpr int most_restarts = 10;

/// Share of (s, s) that must be left for (r, r) and (r*, r) to have lost no more than a digit.
constexpr double safe_share = 0.1;

/// Whether the product of vectors with these squared norms is no more than rounding.
template <class Scalar>
bool vanishes(Scalar product, double square, double other_square) {
  return !(std::abs(product) >
           std::numeric_limits<double>::epsilon() * std::sqrt(square) * std::sqrt(other_square));
}

/// BiCGSTAB (van der Vorst 1992), preconditioned from the right so that its residual is that of A x = b.
/// Two reductions and two products with A in a step: with t = A M s, the products of the next residual s -
/// omega t follow from those of s and t, (r*, r) without loss, since (r*, s) is 0 but for rounding, and (r,
/// r) by Pythagoras; where most of s goes away in the step they are summed once more. When a product with the
/// shadow residual, or omega, vanishes, the recurrence starts again from the current residual with another
/// shadow. Traffic beside A and M: 23 doubles per row and step, 25 where the residual norm rises. `Scalar`:
/// of the coefficients, double or Complex.
template <class Scalar>
class Bicgstab {
  using Elements = std::span<Scalar>;

 public:
  Bicgstab(const System& system, Vector x, const MethodOptions& options, const Progress& progress)
      : system_(system),
        x_(as<Scalar>(x)),
        first_element_(system.sum.comm().exclusive_sum(static_cast<std::int64_t>(x.size()))),
        order_(system.sum.comm().allreduce(static_cast<double>(x.size()), comm::ReduceOp::sum)),
        work_(system.sum.comm(), x.size(), 8),
        best_(x, work_[7]),
        monitor_(system, options, progress, first_residual(system, x, as_pairs(r_))) {}

  MethodResult solve() {
    if (monitor_.stopped()) return monitor_.result();
    copy(as_pairs(r_), as_pairs(shadow_));
    copy(as_pairs(r_), as_pairs(p_));
    rho_ = 1;
    shadow_square_ = 1;
    while (!monitor_.stopped()) step();
    monitor_.correct(best_.restore());
    return monitor_.result();
  }

 private:
  /// Sums over ranks, with t = A M s.
  struct Products {
    Scalar ts, shadow_s, shadow_t;
    double tt, ss;
  };

  void step() {
    system_.apply_m_and_a(as_pairs(p_), as_pairs(p_hat_), as_pairs(v_));
    std::array<Scalar, 2> shadow_v = local_dot_and_square(shadow_, v_);
    system_.sum(as_pairs(Elements(shadow_v)));
    const Scalar sigma = shadow_v[0];
    const double v_square = std::real(shadow_v[1]);
    if (!monitor_.check_finite(std::abs(sigma) + v_square, "A M p")) return;
    if (vanishes(sigma, shadow_square_, v_square)) {
      monitor_.step(std::sqrt(r_square_), 1, as_pairs(r_));
      return restart(fmt::format("(r*, A M p) = {:.3g} beside norms {:.3g} and {:.3g}", std::abs(sigma),
                                 std::sqrt(shadow_square_), std::sqrt(v_square)));
    }
    const Scalar alpha = rho_ / sigma;

    const double local_square = axpy_square(-alpha, v_, r_);  // r is s from here on
    system_.apply_m_and_a(as_pairs(r_), as_pairs(s_hat_), as_pairs(t_));
    std::array<Scalar, 5> sums{};
    local_products({{t_, r_}, {t_, t_}, {shadow_, r_}, {shadow_, t_}}, sums);
    sums[4] = local_square;
    system_.sum(as_pairs(Elements(sums)));
    stabilize(alpha, {.ts = sums[0],
                      .shadow_s = sums[2],
                      .shadow_t = sums[3],
                      .tt = std::real(sums[1]),
                      .ss = std::real(sums[4])});
  }

  /// The second half of a step.
  void stabilize(Scalar alpha, const Products& products) {
    const auto [ts, shadow_s, shadow_t, tt, ss] = products;
    if (!monitor_.check_finite(std::abs(ts) + tt + ss, "A M s")) return;
    if (vanishes(ts, ss, tt)) {
      take_half_step(alpha, ss);
      return restart(fmt::format(
          "omega = (A M s, s) / (A M s, A M s) = {:.3g} / {:.3g} with ||s|| = {:.3g}; the matrix may "
          "be skew-symmetric",
          std::abs(ts), tt, std::sqrt(ss)));
    }
    const Scalar omega = ts / tt;
    Scalar next_rho = shadow_s - omega * shadow_t;
    r_square_ = ss - std::real(conjugate(ts) * omega);
    if (r_square_ >= safe_share * ss) {
      axpy(-omega, t_, r_);
    } else {
      std::array<Scalar, 2> next = axpy_dot_and_square(-omega, t_, r_, shadow_);
      system_.sum(as_pairs(Elements(next)));
      next_rho = next[0];
      r_square_ = std::real(next[1]);
    }
    const double norm = std::sqrt(r_square_);
    monitor_.step(norm, 2, as_pairs(r_));
    if (!std::isfinite(norm)) return;
    best_.before_update(norm);
    axpbypz(alpha * monitor_.unit(), p_hat_, omega * monitor_.unit(), s_hat_, x_);
    if (monitor_.resumes(as_pairs(r_), best_)) {
      std::array<Scalar, 2> anew = local_dot_and_square(shadow_, r_);
      system_.sum(as_pairs(Elements(anew)));
      next_rho = anew[0];
      r_square_ = std::real(anew[1]);
    }
    if (vanishes(next_rho, shadow_square_, r_square_)) {
      return restart(fmt::format("rho = (r*, r) = {:.3g} beside norms {:.3g} and {:.3g}", std::abs(next_rho),
                                 std::sqrt(shadow_square_), std::sqrt(r_square_)));
    }
    const Scalar beta = next_rho / rho_ * (alpha / omega);
    rho_ = next_rho;
    aypx_minus(beta, r_, omega, v_, p_);
  }

  /// x + alpha M p, whose residual is s.
  void take_half_step(Scalar alpha, double ss) {
    r_square_ = ss;
    monitor_.step(std::sqrt(ss), 2, as_pairs(r_));
    best_.before_update(std::sqrt(ss));
    axpy(alpha * monitor_.unit(), p_hat_, x_);
  }

  /// Starts again from the current residual, or ends the method when that has been done too often. The new
  /// shadow is the residual with a random vector of at most half its norm added: (r*, r) cannot vanish, and
  /// nothing else has reason to.
  void restart(const std::string& reason) {
    if (monitor_.stopped()) return;
    ++restarts_;
    if (restarts_ > most_restarts) {
      return monitor_.breakdown(fmt::format("{} (after {} new shadow residuals)", reason, most_restarts));
    }
    const double size = 0.5 * std::sqrt(r_square_ / order_);
    const Vector shadow = as_pairs(shadow_);
    const Vector r = as_pairs(r_);
    parallel_for(static_cast<std::int64_t>(r.size()), [&](std::int64_t i) {
      const auto seed = static_cast<std::uint64_t>(restarts_);
      const auto element = static_cast<std::uint64_t>(first_element_ + i);
      shadow[i] = r[i] + size * (2 * random_uniform(seed, element) - 1);
    });
    copy(r, as_pairs(p_));
    std::array<Scalar, 2> sums = local_dot_and_square(r_, shadow_);
    system_.sum(as_pairs(Elements(sums)));
    rho_ = conjugate(sums[0]);
    shadow_square_ = std::real(sums[1]);
  }

  const System& system_;
  Elements x_;
  std::int64_t
      first_element_;  ///< global index of x[0]: random elements do not depend on the number of ranks
  double order_;       ///< order of the matrix
  Workspace work_;
  Elements r_ = as<Scalar>(work_[0]);
  Elements shadow_ = as<Scalar>(work_[1]);
  Elements p_ = as<Scalar>(work_[2]);
  Elements p_hat_ = as<Scalar>(work_[3]);
  Elements v_ = as<Scalar>(work_[4]);
  Elements s_hat_ = as<Scalar>(work_[5]);
  Elements t_ = as<Scalar>(work_[6]);
  BestIterate best_;
  Monitor monitor_;
  Scalar rho_ = 1;
  double r_square_ = 1;
  double shadow_square_ = 1;
  int restarts_ = 0;
};

MethodResult solve_bicgstab(const System& system, Vector x, const MethodOptions& options,
                            const Orthogonalize&, const Progress& progress) {
  if (system.is_complex) return Bicgstab<Complex>(system, x, options, progress).solve();
  return Bicgstab<double>(system, x, options, progress).solve();
}

}  // namespace

const Method bicgstab_method{
    .name = "bicgstab",
    .description = "stabilised bi-conjugate gradients, for any matrix, in little memory",
    .needs_symmetric = false,
    .needs_definite = false,
    .needs_symmetric_preconditioner = false,
    .restarts = false,
    .traffic = 12,
    .solve = solve_bicgstab,
    .takes_complex = true,
    .takes_split = true};

}  // namespace ayatori::solvers
