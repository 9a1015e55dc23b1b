#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/methods/definiteness.hpp"
#include "ayatori/solvers/methods/methods.hpp"
#include "ayatori/solvers/methods/monitor.hpp"
#include "ayatori/solvers/methods/workspace.hpp"

namespace ayatori::solvers {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// What an iteration sums over ranks. s is the one of the last direction, m the one that q was made of, x
/// that before the last direction; all in units of the first residual.
enum Sum { rr, ru, uw, us, uu, ww, pp, qq, mm, xx, gap, sums };
using Sums = std::array<double, sums>;

/// A bound on what rounding has put between r and b - A x, by the recurrences of the differences of every
/// auxiliary vector from what it stands for (Cools, Yetkin, Agullo, Giraud & Vanroose 2018). All norms are
/// 2-norms in units of the first residual; that of A is the largest that a product has shown.
class ResidualGap {
 public:
  double value() const { return share_ * r_; }

  /// The gap was in truth `measured`: bounds are worst cases, and by how much they are shows here.
  void calibrate(double measured) { share_ = std::min(1.0, safety * measured / r_); }

  /// Everything has just been computed from its definition.
  void restart(const Sums& s) {
    learn(s);
    const double a = epsilon * norm_of_a_;
    r_ = a * std::sqrt(s[xx]) + epsilon;
    s_ = a * std::sqrt(s[pp]);
    w_ = a * std::sqrt(s[uu]);
    z_ = a * std::sqrt(s[qq]);
  }

  /// An iteration with these coefficients has led to these sums.
  void advance(double alpha, double beta, const Sums& s) {
    learn(s);
    const double a = epsilon * norm_of_a_;
    const double p = std::sqrt(s[pp]);
    s_ = w_ + std::abs(beta) * s_ + 2 * a * p;
    z_ = std::abs(beta) * z_ + a * (std::sqrt(s[mm]) + 2 * std::sqrt(s[qq]));
    w_ += std::abs(alpha) * z_ + 2 * a * std::sqrt(s[uu]);
    r_ +=
        std::abs(alpha) * s_ + a * (std::sqrt(s[xx]) + 2 * std::abs(alpha) * p) + epsilon * std::sqrt(s[rr]);
  }

 private:
  void learn(const Sums& s) {
    if (s[uu] > 0) norm_of_a_ = std::max(norm_of_a_, std::sqrt(s[ww] / s[uu]));
  }

  static constexpr double safety = 10;
  double share_ = 1;  ///< share of the bound that is real, with this safety
  double norm_of_a_ = 0;
  double r_ = 0;  ///< distance of r from b - A x,
  double s_ = 0;  ///< distance of s from A p,
  double w_ = 0;  ///< distance of w from A u,
  double z_ = 0;  ///< distance of z from A q
};

/// Share of a residual that rounding may have put there before it is computed anew. Van der Vorst & Ye (2000)
/// have sqrt(eps), which would come to a repair every dozen iterations on Poisson's equation.
const double tolerated_gap = std::sqrt(std::sqrt(epsilon));
/// Iterations between repairs, of four products each: where they come more often, nothing is pipelined any
/// more.
constexpr int least_interval = 80;
/// A residual that meets the target is believed if rounding cannot have contributed more than this share.
constexpr double believed_share = 0.1;

/// Pipelined conjugate gradients (Ghysels & Vanroose 2014, algorithm 4): the one reduction of an iteration
/// goes on during its product and its preconditioner, which are applied to A M r instead of r; everything
/// else follows by recurrences. These amplify rounding: when it begins to matter, all vectors are computed
/// anew from x and p (Cools et al. 2018), which takes four products and is not counted as an iteration; and
/// so they are before a target is called met where the bound is not good enough for that. Where that
/// comes too often, as it does near the limit of double precision, u and w are from then on M r and A u
/// themselves: the method is cg then, with its accuracy and its reductions. As there, p^T A p is summed from
/// its parts.
///
/// x is one direction behind r until the norm of r is known. Traffic beside A and M: 18 doubles per row and
/// iteration, in one pass; 20 where the residual norm rises.
class PipelinedCg {
 public:
  PipelinedCg(const System& system, Vector x, const MethodOptions& options, const Progress& progress)
      : system_(system),
        x_(x),
        work_(system.sum.comm(), x.size(), 10),
        best_(x, work_[9]),
        monitor_(system.sum, options, progress, scaled_residual(system, x, r_)) {}

  MethodResult solve() {
    if (monitor_.stopped()) return monitor_.result();
    for (const Vector v : {m_, p_, s_, q_, z_}) fill(v, 0);
    apply_both(r_, u_, w_);
    take_sums();
    gap_.restart(reduce());
    while (!monitor_.stopped() && advance()) {
      take_step(reduce());
      if (!monitor_.stopped() || monitor_.result().stop == Stop::converged) repair();
    }
    monitor_.correct(best_.restore());
    return monitor_.result();
  }

 private:
  /// The sums over ranks, with the product of the next iteration meanwhile, unless it may be in vain.
  const Sums& reduce() {
    has_product_ = is_pipelined_ && !monitor_.expects_end();
    if (has_product_) {
      system_.sum.during(sums_, [this] { multiply(); });
    } else {
      system_.sum(sums_);
    }
    return sums_;
  }

  /// m = M w, n = A m.
  void multiply() {
    system_.m.apply(w_, m_);
    system_.sum.progress();
    system_.a.apply(m_, n_);
  }

  /// The next direction and residual. False, and the method ended, where there is none.
  bool advance() {
    if (!check_preconditioner(monitor_, sums_[ru])) {
      catch_up();
      return false;
    }
    if (is_pipelined_ && !has_product_) multiply();
    beta_ = rho_ > 0 ? sums_[ru] / rho_ : 0;
    rho_ = sums_[ru];
    curvature_ = sums_[uw] + 2 * beta_ * sums_[us] + beta_ * beta_ * curvature_;
    const bool cancels = !(curvature_ >= safe_curvature_share * sums_[uw]);
    if (cancels) {
      make_direction(alpha_);
      curvature_ = dot(system_.sum, p_, s_);
    }
    if (!check_curvature(monitor_, curvature_)) return false;
    const double old_alpha = alpha_;
    alpha_ = rho_ / curvature_;
    if (is_pipelined_ && !cancels) {
      update(old_alpha);
    } else {
      if (!cancels) make_direction(old_alpha);
      follow_direction();
      take_sums();
    }
    return true;
  }

  /// Ends the iteration: its residual is known, and x may leave for that direction.
  void take_step(const Sums& s) {
    const double norm = std::sqrt(s[rr]);
    monitor_.step(norm);
    if (!std::isfinite(norm)) {
      alpha_ = 0;
      return;
    }
    best_.before_update(norm);
    gap_.advance(alpha_, beta_, s);
    if (monitor_.stopped()) catch_up();
    norm_ = norm;
  }

  /// x follows the last direction.
  void catch_up() {
    axpy(alpha_ * monitor_.unit(), p_, x_);
    alpha_ = 0;
  }

  /// Computes everything anew if it is time to, or if the residual only seems to meet the target.
  void repair() {
    if (!is_pipelined_) return;
    const bool claims = monitor_.stopped();
    if (gap_.value() <= (claims ? believed_share : tolerated_gap) * norm_) return;
    catch_up();
    system_.a.apply(x_, m_);
    subtract(system_.b, m_, m_);
    scale(1 / monitor_.unit(), m_);
    if (claims && is_solved()) return;
    subtract(m_, r_, r_);
    const double local_gap = local_dot(r_, r_);
    copy(m_, r_);
    apply_both(r_, u_, w_);
    system_.a.apply(p_, s_);
    is_pipelined_ = !claims && (repaired_ < 0 || monitor_.iterations() - repaired_ >= least_interval);
    repaired_ = monitor_.iterations();
    if (is_pipelined_) apply_both(s_, q_, z_);
    take_sums();
    sums_[gap] = local_gap;
    gap_.calibrate(std::sqrt(reduce()[gap]));
    gap_.restart(sums_);
    norm_ = std::sqrt(sums_[rr]);
    best_.correct(norm_);
    monitor_.correct(norm_);
  }

  /// Whether m, the residual just computed, meets the target.
  bool is_solved() {
    const double norm = solvers::norm(system_.sum, m_);
    best_.correct(norm);
    monitor_.correct(norm);
    return monitor_.stopped();
  }

  void apply_both(ConstVector v, Vector mv, Vector amv) {
    system_.m.apply(v, mv);
    system_.a.apply(mv, amv);
  }

  /// p and s, with x following the old p; in passes of their own.
  void make_direction(double old_alpha) {
    axpy_aypx(old_alpha * monitor_.unit(), p_, x_, beta_, u_);
    aypx(beta_, w_, s_);
  }
  void follow_direction() {
    axpy(-alpha_, s_, r_);
    if (!is_pipelined_) return apply_both(r_, u_, w_);
    aypx(beta_, m_, q_);
    aypx(beta_, n_, z_);
    axpy(-alpha_, q_, u_);
    axpy(-alpha_, z_, w_);
  }

  /// make_direction() and follow_direction() and this rank's part of the sums in one pass.
  void update(double old_alpha) {
    const double step = old_alpha * monitor_.unit();
    const double per_unit = 1 / monitor_.unit();
    const double alpha = alpha_;
    const double beta = beta_;
    sum_over_rows([=, this](std::int64_t i, auto&& sum) {
      const double x = x_[i] + step * p_[i];
      const double p = u_[i] + beta * p_[i];
      const double s = w_[i] + beta * s_[i];
      const double q = m_[i] + beta * q_[i];
      const double z = n_[i] + beta * z_[i];
      const double r = r_[i] - alpha * s;
      const double u = u_[i] - alpha * q;
      const double w = w_[i] - alpha * z;
      sum(r, u, w, s, p, q, m_[i], x * per_unit);
      x_[i] = x;
      p_[i] = p;
      s_[i] = s;
      q_[i] = q;
      z_[i] = z;
      r_[i] = r;
      u_[i] = u;
      w_[i] = w;
    });
  }

  /// row(i, sum) for every row, which calls sum with that row of r, u, w, s, p, q, m, x once.
  template <class Row>
  void sum_over_rows(Row row) {
    constexpr std::int64_t lanes = 8;
    sums_ = parallel_sums<sums>(static_cast<std::int64_t>(x_.size()), [=](Range range) {
      double parts[sums][lanes] = {};
      const auto add = [&](std::int64_t i, std::int64_t lane) {
        row(i, [&](double r, double u, double w, double s, double p, double q, double m, double x) {
          parts[rr][lane] += r * r;
          parts[ru][lane] += r * u;
          parts[uw][lane] += u * w;
          parts[us][lane] += u * s;
          parts[uu][lane] += u * u;
          parts[ww][lane] += w * w;
          parts[pp][lane] += p * p;
          parts[qq][lane] += q * q;
          parts[mm][lane] += m * m;
          parts[xx][lane] += x * x;
        });
      };
      std::int64_t i = range.begin;
      for (; i + lanes <= range.end; i += lanes) {
#pragma omp simd
        for (std::int64_t lane = 0; lane < lanes; ++lane) add(i + lane, lane);
      }
      for (; i < range.end; ++i) add(i, 0);
      Sums total{};
      for (int k = 0; k < sums; ++k)
        for (const double part : parts[k]) total[k] += part;
      return total;
    });
  }

  /// This rank's part of the sums.
  void take_sums() {
    const double per_unit = 1 / monitor_.unit();
    sum_over_rows([=, this](std::int64_t i, auto&& sum) {
      sum(r_[i], u_[i], w_[i], s_[i], p_[i], q_[i], m_[i], x_[i] * per_unit);
    });
  }

  const System& system_;
  Vector x_;
  Workspace work_;
  Vector r_ = work_[0];
  Vector u_ = work_[1];  ///< M r
  Vector w_ = work_[2];  ///< A u
  Vector m_ = work_[3];  ///< M w
  Vector n_ = work_[4];  ///< A m
  Vector p_ = work_[5];
  Vector s_ = work_[6];  ///< A p
  Vector q_ = work_[7];  ///< M s
  Vector z_ = work_[8];  ///< A q
  BestIterate best_;
  Monitor monitor_;
  ResidualGap gap_;
  Sums sums_{};
  bool has_product_ = false;  ///< m and n belong to w
  bool is_pipelined_ = true;
  int repaired_ = -1;  ///< the iteration of the last repair
  double rho_ = 0;     ///< rho of the last direction; 0 before the first
  double curvature_ = 0;
  double alpha_ = 0;  ///< by which x has still to follow p
  double beta_ = 0;
  double norm_ = 1;
};

MethodResult solve_pipelined_cg(const System& system, Vector x, const MethodOptions& options,
                                const Orthogonalize&, const Progress& progress) {
  return PipelinedCg(system, x, options, progress).solve();
}

}  // namespace

const Method pipelined_cg_method{
    .name = "pipelined-cg",
    .description = "conjugate gradients whose reduction goes on during the product, for many ranks",
    .needs_symmetric = true,
    .needs_definite = true,
    .needs_symmetric_preconditioner = true,
    .restarts = false,
    .traffic = 18,
    .solve = solve_pipelined_cg};

}  // namespace ayatori::solvers
