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

/// Basis vectors that can be of use before a restart, however many are asked for. Collective.
int useful_basis(const System& system, const MethodOptions& options, std::size_t local_size) {
  const double order = system.sum(static_cast<double>(local_size));
  return std::max(1, static_cast<int>(std::min(static_cast<double>(options.max_iterations), order)));
}

/// GMRES(m) (Saad & Schultz 1986), preconditioned from the right so that its residual is that of A x = b, and
/// FGMRES (Saad 1993), which keeps every preconditioned vector and so lets the preconditioner change.
class Gmres {
 public:
  Gmres(const System& system, Vector x, const MethodOptions& options, const Orthogonalize& orthogonalize,
        const Progress& progress, bool flexible)
      : system_(system),
        options_(options),
        x_(x),
        orthogonalize_(&orthogonalize),
        flexible_(flexible),
        useful_(useful_basis(system, options, x.size())),
        m_(std::min(options.restart, useful_)),
        space_(system.sum.comm(), x.size(), m_, flexible),
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
  /// Memory for a cycle of at most `capacity` basis vectors.
  struct Space {
    /// Collective.
    Space(const comm::Comm& comm, std::size_t n, int size, bool flexible)
        : capacity(size),
          work(comm, n, (size + 1) + (flexible ? size : 1)),
          least_squares(comm::agree(comm, [&] { return HessenbergLeastSquares(size); })),
          h(comm::agree(comm, [&] { return Array<double>(orthogonalization_work_size(size)); })) {}

    int capacity;
    Workspace work;
    HessenbergLeastSquares least_squares;
    Array<double> h;
  };

  Vector v(int j) { return space_.work[j]; }
  /// M v_j: kept for every j when flexible, otherwise one work vector.
  Vector z(int j) { return space_.work[space_.capacity + 1 + (flexible_ ? j : 0)]; }
  Basis basis(int size) const { return space_.work.basis(0, size); }

  /// One cycle: an orthonormal basis of the Krylov space from v_0, and with it the least squares problem.
  /// False if the space ended before m vectors: then it holds the solution, or A is singular.
  bool build_basis(double residual) {
    space_.least_squares.restart(residual);
    for (int j = 0; j < m_ && !monitor_.stopped(); ++j) {
      const Vector w = v(j + 1);
      system_.m.apply(v(j), z(j));
      system_.a.apply(z(j), w);
      const double norm = (*orthogonalize_)(system_.sum, basis(j + 1), w, space_.h);
      if (!append(j, norm)) return false;
      monitor_.step(space_.least_squares.residual());
      if (is_end_of_space(j, norm)) return false;
      if (options_.inside_cycle) options_.inside_cycle([this](Vector z) { form_iterate(z); });
      scale(1 / norm, w);
    }
    return true;
  }

  /// Takes column j into the least squares problem, or ends the method with the reason why that is
  /// impossible.
  bool append(int j, double norm) {
    if (space_.least_squares.append(space_.h, norm)) return true;
    monitor_.step(space_.least_squares.residual());
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
    for (int i = 0; i <= j; ++i) size = std::max(size, std::abs(space_.h[i]));
    return norm <= 10 * std::numeric_limits<double>::epsilon() * size;
  }

  /// x = x + M V y, or x + Z y when flexible. The update stays in v_m or z_0 until the next cycle. False, and
  /// x as it was, if there is none to make or it is not finite.
  bool update() {
    const int k = space_.least_squares.columns();
    if (k == 0) return false;
    const auto y = space_.least_squares.solve();
    combine(flexible_ ? space_.work.basis(space_.capacity + 1, k) : basis(k), y, v(k));
    if (!flexible_) system_.m.apply(v(k), z(0));
    if (!std::isfinite(system_.sum(local_max_abs(last_update())))) {
      monitor_.breakdown(fmt::format("the correction of x from {} vectors overflows", k));
      return false;
    }
    axpy(monitor_.unit(), last_update(), x_);
    return true;
  }
  /// z = x + M V y, or x + Z y when flexible, in the midst of a cycle: that of k steps, and the basis stays.
  void form_iterate(Vector iterate) {
    const int k = space_.least_squares.columns();
    const auto y = space_.least_squares.solve();
    if (flexible_) {
      combine(space_.work.basis(space_.capacity + 1, k), y, iterate);
    } else {
      combine(basis(k), y, z(0));
      system_.m.apply(z(0), iterate);
    }
    aypx(monitor_.unit(), x_, iterate);
  }
  Vector last_update() { return flexible_ ? v(space_.least_squares.columns()) : z(0); }

  /// Computes the residual anew, and v_0 from it. Returns its norm, in units of the first; ends the method
  /// where the cycle was of no use and the next would be the same. An update that made the residual worse,
  /// which only lost orthogonality can do, is taken back.
  double restart(double before) {
    const double now = scaled_residual(system_, x_, v(0)) / monitor_.unit();
    const bool worse = !(now <= before);
    if (worse) axpy(-monitor_.unit(), last_update(), x_);
    const double reached = worse ? before : now;
    monitor_.correct(reached);
    if (monitor_.stopped()) return reached;
    const bool useless = worse || (!flexible_ && now > (1 - no_progress) * before);
    const bool changes = plan_next_cycle(before, now);
    if (useless && !changes) {
      monitor_.stagnated(uselessness(worse, before, now));
    } else if (worse) {
      scaled_residual(system_, x_, v(0));
    }
    return reached;
  }

  /// Asks what the next cycle shall be. True if it differs from the last.
  bool plan_next_cycle(double before, double now) {
    if (!options_.next_cycle) return false;
    const double unit = monitor_.unit();
    Cycle cycle{space_.least_squares.columns(),
                before * unit,
                space_.least_squares.residual() * unit,
                now * unit,
                m_,
                orthogonalize_};
    options_.next_cycle(cycle);
    const int m = std::clamp(cycle.restart, 1, useful_);
    if (m == m_ && cycle.orthogonalize == orthogonalize_) return false;
    orthogonalize_ = cycle.orthogonalize;
    if (m > space_.capacity) {
      Space larger(system_.sum.comm(), x_.size(), m, flexible_);
      copy(v(0), larger.work[0]);
      space_ = std::move(larger);
    }
    m_ = m;
    monitor_.give_more_time();
    return true;
  }

  std::string uselessness(bool worse, double before, double now) const {
    const double unit = monitor_.unit();
    const int k = space_.least_squares.columns();
    return worse ? fmt::format(
                       "a cycle of {} vectors made the residual norm grow from {:.3g} to {:.3g}: its "
                       "basis had lost orthogonality, or the limit of double precision is reached",
                       k, before * unit, now * unit)
                 : fmt::format(
                       "a cycle of {} vectors left the residual norm at {:.3g}: the next would repeat it", k,
                       now * unit);
  }

  const System& system_;
  const MethodOptions& options_;
  Vector x_;
  const Orthogonalize* orthogonalize_;
  bool flexible_;
  int useful_;
  int m_;  ///< basis vectors of a cycle, at most
  Space space_;
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
                          .traffic = 40,
                          .solve = solve_gmres};

const Method fgmres_method{.name = "fgmres",
                           .description = "GMRES that lets the preconditioner change, for twice the memory",
                           .needs_symmetric = false,
                           .needs_definite = false,
                           .needs_symmetric_preconditioner = false,
                           .restarts = true,
                           .traffic = 40,
                           .solve = solve_fgmres};

}  // namespace ayatori::solvers
