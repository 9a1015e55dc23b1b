#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/solvers/methods/methods.hpp"
#include "ayatori/solvers/methods/monitor.hpp"
#include "ayatori/solvers/methods/workspace.hpp"

namespace ayatori::solvers {

namespace {

constexpr int most_shadows = 4;  ///< s: what Sonneveld and van Gijzen advise
constexpr int most_restarts = 10;
/// Below this cosine of t and r omega is made larger, which keeps the recurrence accurate (Sleijpen & van der
/// Vorst 1995).
constexpr double smallest_cosine = 0.7;
constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// IDR(s) (Sonneveld & van Gijzen 2008) with bi-orthogonal vectors (van Gijzen & Sonneveld 2011), s = 4,
/// preconditioned from the right. For any matrix, in short recurrences: s + 1 products bring the residual
/// from one space of Sonneveld to the next, whose dimension is smaller by s. All products with the shadow
/// space are summed at once, since those of vectors that are subtracted are known: two reductions for a
/// product with A. Traffic beside A and M: about 3.5 s + 8 doubles per row and product.
class Idr {
 public:
  Idr(const System& system, Vector x, const MethodOptions& options, const Progress& progress)
      : system_(system),
        x_(x),
        first_element_(system.sum.comm().exclusive_sum(static_cast<std::int64_t>(x.size()))),
        s_(std::min<int>(most_shadows,
                         static_cast<int>(std::min<std::int64_t>(
                             most_shadows, system.sum.comm().allreduce(static_cast<std::int64_t>(x.size()),
                                                                       comm::ReduceOp::sum))))),
        work_(system.sum.comm(), x.size(), 4 + 3 * most_shadows),
        best_(x, work_[3]),
        monitor_(system, options, progress, first_residual(system, x, r_)) {}

  MethodResult solve() {
    if (monitor_.stopped()) return monitor_.result();
    start();
    while (!monitor_.stopped()) {
      for (int k = 0; k < s_ && !monitor_.stopped() && !starts_anew_; ++k) step_in_space(k);
      if (!monitor_.stopped() && !starts_anew_) enter_next_space();
      if (starts_anew_ && !monitor_.stopped()) start();
    }
    monitor_.correct(best_.restore());
    return monitor_.result();
  }

 private:
  Vector shadow(int i) { return work_[4 + i]; }
  Vector g(int i) { return work_[4 + most_shadows + i]; }
  Vector u(int i) { return work_[4 + 2 * most_shadows + i]; }
  Basis shadows() const { return work_.basis(4, s_); }
  Basis g_from(int k) const { return work_.basis(4 + most_shadows + k, s_ - k); }
  Basis u_from(int k) const { return work_.basis(4 + 2 * most_shadows + k, s_ - k); }
  double& m(int i, int j) { return m_[i * most_shadows + j]; }

  /// Orthonormal random shadows, another set each time, and no directions.
  void start() {
    starts_anew_ = false;
    for (int i = 0; i < s_; ++i) {
      const auto seed = static_cast<std::uint64_t>(1) + static_cast<std::uint64_t>(restarts_ * most_shadows) +
                        static_cast<std::uint64_t>(i);
      parallel_for(static_cast<std::int64_t>(x_.size()), [&](std::int64_t e) {
        shadow(i)[e] = 2 * random_uniform(seed, static_cast<std::uint64_t>(first_element_ + e)) - 1;
      });
      for (int pass = 0; pass < 2; ++pass) {
        std::vector<double> h(i + 1);
        h[i] = local_dots(work_.basis(4, i), shadow(i), std::span(h).first(i));
        system_.sum(h);
        subtract_combination(work_.basis(4, i), std::span(h).first(i), shadow(i));
        scale(1 / norm(system_.sum, shadow(i)), shadow(i));
      }
      fill(g(i), 0);
      fill(u(i), 0);
      for (int j = 0; j < s_; ++j) m(i, j) = i == j ? 1 : 0;
    }
    omega_ = 1;
    f_ = against_shadows(r_);
  }

  /// P^T v
  std::vector<double> against_shadows(ConstVector v) {
    std::vector<double> h(s_);
    local_dots(shadows(), v, h);
    system_.sum(h);
    return h;
  }

  /// One product with A: a direction g_k = A u_k orthogonal to the shadows before k, and the residual made
  /// orthogonal to shadow k by it.
  void step_in_space(int k) {
    std::vector<double> c(f_.begin() + k, f_.end());
    for (int i = k; i < s_; ++i) {
      for (int j = k; j < i; ++j) c[i - k] -= m(i, j) * c[j - k];
      c[i - k] /= m(i, i);
    }
    copy(r_, v_);
    subtract_combination(g_from(k), c, v_);
    const bool is_split = system_.split != nullptr;
    if (is_split) {
      system_.apply_m_and_a(v_, t_, g(k));
      axpbypcz(1, r_, -1, v_, omega_, g(k));  // A u_k without another product
    } else {
      system_.m.apply(v_, t_);
    }
    combine(u_from(k), c, v_);
    axpy(omega_, t_, v_);
    copy(v_, u(k));
    if (!is_split) system_.a.apply(u(k), g(k));

    auto h = against_shadows(g(k));
    std::vector<double> alpha(k);
    for (int i = 0; i < k; ++i) {
      alpha[i] = h[i] / m(i, i);
      for (int j = i; j < s_; ++j) h[j] -= alpha[i] * m(j, i);
    }
    subtract_combination(work_.basis(4 + most_shadows, k), alpha, g(k));
    subtract_combination(work_.basis(4 + 2 * most_shadows, k), alpha, u(k));
    for (int i = k; i < s_; ++i) m(i, k) = h[i];
    if (!monitor_.check_finite(h[k], "P^T A M v")) return;
    const double largest = *std::ranges::max_element(h, {}, [](double value) { return std::abs(value); });
    if (!(std::abs(h[k]) > epsilon * std::abs(largest)) || h[k] == 0) {
      monitor_.step(last_norm_, 1, r_);
      return start_anew(fmt::format("(p, g) = {:.3g}: a shadow sees nothing of its direction", h[k]));
    }
    const double beta = f_[k] / h[k];
    take(axpy_square(-beta, g(k), r_), beta, u(k));
    for (int i = k; i < s_; ++i) f_[i] -= beta * m(i, k);
  }

  /// r = r - omega t with t = A M r. The residual is orthogonal to the shadows here, so that P^T t tells what
  /// the next one is to them.
  void enter_next_space() {
    system_.apply_m_and_a(r_, v_, t_);
    std::vector<double> sums(s_ + 2);
    sums[s_] = local_dots(shadows(), t_, std::span(sums).first(s_));
    sums[s_ + 1] = local_dot(r_, t_);
    system_.sum(sums);
    const double tt = sums[s_];
    const double rt = sums[s_ + 1];
    if (!monitor_.check_finite(rt + tt, "A M r")) return;
    const double cosine = tt > 0 ? rt / (std::sqrt(tt) * last_norm_) : 0;
    if (!(std::abs(cosine) > epsilon)) {
      monitor_.step(last_norm_, 1, r_);
      return start_anew(fmt::format("omega = {:.3g} / {:.3g}; the matrix may be skew-symmetric", rt, tt));
    }
    omega_ = rt / tt;
    if (std::abs(cosine) < smallest_cosine) omega_ *= smallest_cosine / std::abs(cosine);
    take(axpy_square(-omega_, t_, r_), omega_, v_);
    for (int i = 0; i < s_; ++i) f_[i] -= omega_ * sums[i];
  }

  /// x = x + step direction, after the residual.
  void take(double local_square, double step, ConstVector direction) {
    const double norm = std::sqrt(system_.sum(local_square));
    last_norm_ = norm;
    monitor_.step(norm, 1, r_);
    if (!std::isfinite(norm)) return;
    best_.before_update(norm);
    axpy(step * monitor_.unit(), direction, x_);
  }

  void start_anew(const std::string& reason) {
    if (monitor_.stopped()) return;
    starts_anew_ = true;
    if (++restarts_ > most_restarts)
      monitor_.breakdown(fmt::format("{} (after {} new shadow spaces)", reason, most_restarts));
  }

  const System& system_;
  Vector x_;
  std::int64_t first_element_;  ///< global index of x[0]: shadows do not depend on the number of ranks
  int s_;
  Workspace work_;
  Vector r_ = work_[0];
  Vector v_ = work_[1];
  Vector t_ = work_[2];
  BestIterate best_;
  Monitor monitor_;
  std::vector<double> f_;                       ///< P^T r
  double m_[most_shadows * most_shadows] = {};  ///< P^T G, lower triangular
  double omega_ = 1;
  double last_norm_ = 1;
  int restarts_ = 0;
  bool starts_anew_ = false;
};

MethodResult solve_idr(const System& system, Vector x, const MethodOptions& options, const Orthogonalize&,
                       const Progress& progress) {
  return Idr(system, x, options, progress).solve();
}

}  // namespace

const Method idr_method{.name = "idr",
                        .description = "IDR(4), for any matrix, in little memory",
                        .needs_symmetric = false,
                        .needs_definite = false,
                        .needs_symmetric_preconditioner = false,
                        .restarts = false,
                        .traffic = 22,
                        .solve = solve_idr,
                        .takes_split = true};

}  // namespace ayatori::solvers
