#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/methods/definiteness.hpp"
#include "ayatori/solvers/methods/methods.hpp"
#include "ayatori/solvers/methods/monitor.hpp"
#include "ayatori/solvers/methods/single_precision.hpp"
#include "ayatori/solvers/methods/workspace.hpp"

namespace ayatori::solvers {

namespace {

/// The residual is computed anew where it has shrunk to this share of what it was then: float leaves seven
/// digits, of which half are kept for the recurrences.
constexpr double first_share = 1e-3;
/// Where the true residual turns out this many times larger than the recursive one, it comes sooner from then
/// on.
constexpr double drifted = 2;
constexpr double largest_share = 0.5;
/// Updates in a row that shrink the residual by less than half: single precision is of no more use.
constexpr int most_useless = 4;

/// total += (z, r), (z, w), (z, q) over a range.
void add_products(Range range, const float* r, const float* z, const float* w, const float* q,
                  std::array<double, 3>& total) {
  double zr = 0;
  double zw = 0;
  double zq = 0;
#pragma omp simd reduction(+ : zr, zw, zq)
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const double zi = z[i];
    zr += zi * r[i];
    zw += zi * w[i];
    zq += zi * q[i];
  }
  total[0] += zr;
  total[1] += zw;
  total[2] += zq;
}

/// p = z + b p, q = w + b q, d = d + a p, r = r - a q over a range; its part of (r, r).
double advance_range(Range range, float a, float b, const float* z, const float* w, float* p, float* q,
                     float* d, float* r) {
  double square = 0;
#pragma omp simd reduction(+ : square)
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    p[i] = z[i] + b * p[i];
    q[i] = w[i] + b * q[i];
    d[i] += a * p[i];
    r[i] -= a * q[i];
    square += static_cast<double>(r[i]) * r[i];
  }
  return square;
}

/// Preconditioned conjugate gradients in single precision, matrix and all vectors, inside refinement in
/// double precision (Strzodka & Goddeke 2006) with reliable updates (Sleijpen & van der Vorst 1996; Clark,
/// Babich, Barros, Brower & Rebbi 2010): x and the residual b - A x are in double; where the recursive
/// residual has shrunk far enough, x takes up the correction, the residual is computed anew, and the
/// directions go on, so that hardly an iteration is lost. One reduction in an iteration, as in cg; sums
/// are in double.
///
/// Traffic beside A and M: 56 bytes per row and iteration, half of cg's; an update takes a product in double
/// and 60 bytes per row.
class RefinedCg {
 public:
  RefinedCg(const System& system, Vector x, const MethodOptions& options, const Progress& progress)
      : system_(system),
        x_(x),
        work_(system.sum.comm(), x.size(), 2),
        floats_(comm::agree(system.sum.comm(), [&] { return Array<float>(6 * x.size()); })),
        monitor_(system.sum, options, progress, scaled_residual(system, x, residual_)) {}

  MethodResult solve() {
    if (monitor_.stopped()) return monitor_.result();
    a_ = float_matrix(system_);
    m_ = float_preconditioner(system_);
    for (const auto v : {p_, q_, d_}) parallel_for(rows(), [&](std::int64_t i) { v[i] = 0; });
    take_residual();
    do {
      iterate();
    } while (finish());
    return monitor_.result();
  }

 private:
  using Floats = std::span<float>;
  struct Products {
    double rr, rz, zaz, zap;
  };

  std::int64_t rows() const { return static_cast<std::int64_t>(x_.size()); }
  Floats vector(int k) { return Floats(floats_).subspan(k * x_.size(), x_.size()); }

  void iterate() {
    double local_square = 0;
    while (!monitor_.stopped()) {
      if (!is_fresh_ && (is_due_ || monitor_.expects_end())) {
        if (!update()) return;
        monitor_.step(anchor_);
        if (monitor_.stopped() || !check_use()) return;
      }
      const Products products = multiply(local_square);
      if (!is_fresh_) {
        norm_ = std::sqrt(products.rr);
        monitor_.step(norm_);
        peak_ = std::max(peak_, norm_);
        is_due_ = norm_ <= share_ * peak_;
        if (monitor_.stopped()) return;
      }
      is_fresh_ = false;
      if (!check_preconditioner(monitor_, products.rz)) return;
      const double beta = rho_ > 0 ? products.rz / rho_ : 0;
      rho_ = products.rz;
      curvature_ = products.zaz + 2 * beta * products.zap + beta * beta * curvature_;
      if (!(curvature_ >= safe_curvature_share * products.zaz)) {  // most of it cancels: begin anew
        curvature_ = products.zaz;
        if (!check_curvature(monitor_, curvature_)) return;
        local_square = advance(0, rho_ / curvature_);
        continue;
      }
      if (!check_curvature(monitor_, curvature_)) return;
      local_square = advance(beta, rho_ / curvature_);
    }
  }

  /// Brings x and its norm up to date. Whether the method has to go on: what looked like the end was not.
  bool finish() {
    if (!is_fresh_) {
      if (!update()) return false;
      monitor_.correct(anchor_);
    }
    if (!monitor_.stopped()) return true;
    if (best_norm_ < anchor_) {  // residuals of conjugate gradients may grow
      copy(best_, x_);
      monitor_.correct(best_norm_);
    }
    return false;
  }

  Products multiply(double local_square) {
    m_->apply_float(r_, z_);
    a_->apply_float(z_, w_);
    const auto sums = parallel_sums<3>(rows(), [&](Range range) {
      std::array<double, 3> total{};
      add_products(range, r_.data(), z_.data(), w_.data(), q_.data(), total);
      return total;
    });
    std::array<double, 4> all{sums[0], sums[1], sums[2], local_square};
    system_.sum(all);
    return {all[3], all[0], all[1], all[2]};
  }

  /// p = z + beta p, q = w + beta q, d = d + alpha p, r = r - alpha q; this rank's (r, r).
  double advance(double beta, double alpha) {
    const auto b = static_cast<float>(beta);
    const auto a = static_cast<float>(alpha);
    return parallel_sum(rows(), [&](Range range) {
      return advance_range(range, a, b, z_.data(), w_.data(), p_.data(), q_.data(), d_.data(), r_.data());
    });
  }

  /// x takes up d, and the residual is computed anew. False, with x as it was and the method ended, if d is
  /// not finite.
  bool update() {
    const bool is_finite = std::isfinite(system_.sum(parallel_sum(rows(), [&](Range range) {
      double sum = 0;
      for (std::int64_t i = range.begin; i < range.end; ++i) sum += std::abs(static_cast<double>(d_[i]));
      return sum;
    })));
    if (!is_finite) {
      monitor_.breakdown("the correction of x is not finite in single precision");
      return false;
    }
    if (anchor_ <= best_norm_) {
      copy(x_, best_);
      best_norm_ = anchor_;
    }
    const double factor = monitor_.unit() * a_->scale();
    parallel_for(rows(), [&](std::int64_t i) { x_[i] += factor * static_cast<double>(d_[i]); });
    const double before = peak_;
    anchor_ = peak_ = scaled_residual(system_, x_, residual_) / monitor_.unit();
    useless_ = anchor_ > before / 2 ? useless_ + 1 : 0;
    if (anchor_ > drifted * norm_) share_ = std::min(largest_share, 10 * share_);
    take_residual();
    return true;
  }

  bool check_use() {
    if (useless_ < most_useless) return true;
    monitor_.stagnated("single precision shrinks the residual no further");
    return false;
  }

  /// r from the residual in double, in units of the first; d = 0.
  void take_residual() {
    const double factor = anchor_;  // the residual has norm 1
    parallel_for(rows(), [&](std::int64_t i) {
      r_[i] = static_cast<float>(factor * residual_[i]);
      d_[i] = 0;
    });
    norm_ = anchor_;
    is_fresh_ = true;
    is_due_ = false;
  }

  const System& system_;
  Vector x_;
  Workspace work_;
  Vector residual_ = work_[0];  ///< residual of x, scaled to norm 1
  Vector best_ = work_[1];      ///< x at an update whose residual was smaller than later ones
  Array<float> floats_;
  Floats r_ = vector(0);
  Floats z_ = vector(1);
  Floats w_ = vector(2);  ///< A z
  Floats p_ = vector(3);
  Floats q_ = vector(4);  ///< A p
  Floats d_ = vector(5);  ///< change of x since the last update
  Monitor monitor_;
  std::unique_ptr<sparse::FloatOperator> a_;
  std::unique_ptr<sparse::FloatOperator> m_;
  double rho_ = 0;
  double curvature_ = 0;
  double anchor_ = 1;  ///< norm of the residual at the last update
  double norm_ = 1;    ///< norm of the recursive residual
  double peak_ = 1;    ///< largest since the last update
  double best_norm_ = std::numeric_limits<double>::infinity();
  double share_ = first_share;
  int useless_ = 0;
  bool is_fresh_ = true;  ///< nothing has been added to d
  bool is_due_ = false;
};

MethodResult solve_refined_cg(const System& system, Vector x, const MethodOptions& options,
                              const Orthogonalize&, const Progress& progress) {
  return RefinedCg(system, x, options, progress).solve();
}

}  // namespace

const Method refined_cg_method{
    .name = "refined-cg",
    .description = "conjugate gradients in single precision, the residual in double",
    .needs_symmetric = true,
    .needs_definite = true,
    .needs_symmetric_preconditioner = true,
    .restarts = false,
    .traffic = 7,
    .solve = solve_refined_cg};

}  // namespace ayatori::solvers
