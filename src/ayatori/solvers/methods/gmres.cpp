#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/methods/hessenberg_least_squares.hpp"
#include "ayatori/solvers/methods/methods.hpp"
#include "ayatori/solvers/methods/monitor.hpp"
#include "ayatori/solvers/methods/single_precision.hpp"
#include "ayatori/solvers/methods/workspace.hpp"
#include "ayatori/solvers/orthogonalizations/gram_schmidt_pass.hpp"

namespace ayatori::solvers {

namespace {

/// A cycle that shrinks the residual by no more than this share would be repeated for ever.
constexpr double no_progress = 1e-10;

/// Basis vectors that can be of use before a restart, however many are asked for. Collective.
int useful_basis(const System& system, const MethodOptions& options, std::size_t local_size) {
  const double order = system.sum(static_cast<double>(local_size)) / (system.is_complex ? 2 : 1);
  return std::max(1, static_cast<int>(std::min(static_cast<double>(options.max_iterations), order)));
}

/// A cycle that has shrunk the residual to this share of what it was may have lost the orthogonality of its
/// basis to classical Gram-Schmidt, which loses it with the square of the condition of what it
/// orthogonalizes: about the inverse of that share (Giraud, Langou, Rozloznik & van den Eshof 2005).
const double risky_share = 10 * std::sqrt(std::numeric_limits<double>::epsilon());
/// A basis vector whose part in the span of the others is more than this makes the cycle useless.
constexpr double lost_orthogonality = 0.1;

/// So much larger than the least squares problem has it a residual is only if that is not the right one.
constexpr double drifted = 2;

enum class Variant { plain, flexible, pipelined };

/// Share of (z, z) that must be left of it for Pythagoras to give the norm of what is orthogonal to the
/// basis.
constexpr double safe_share = 0.1;

/// A cycle in single precision ends where its residual has shrunk to this share of what it was, as far as it
/// can tell: float leaves seven digits.
constexpr double first_share = 1e-5;
constexpr double largest_share = 0.5;
/// Cycles in a row whose true residual is not what their least squares problem has and shrinks by less than
/// half: single precision is of no more use.
constexpr int most_useless = 4;

/// Basis, A and M in double precision; coefficients of this type.
template <class Scalar>
struct DoubleArithmetic {
  using Real = double;
  using Coefficient = Scalar;
  static constexpr bool is_exact = true;

  explicit DoubleArithmetic(const System& of) : system(of) {}

  void prepare() {}
  /// v = (b - A x) / unit; the unit.
  double residual(ConstVector x, Vector v) { return scaled_residual(system, x, v); }
  void precondition(ConstVector x, Vector y) const { system.m.apply(x, y); }
  void multiply(ConstVector x, Vector y) const { system.a.apply(x, y); }
  double orthogonalize(const Orthogonalize& by, const Basis& basis, Vector w,
                       std::span<Coefficient> h) const {
    if constexpr (std::is_same_v<Scalar, double>)
      return by(system.sum, basis, w, h);
    else  // complex vectors have this one alone
      return apply_ircgs(system.sum, as_complex(basis), as_complex(w), h);
  }
  /// x += a y, y being what precondition() gave.
  void add(double a, ConstVector y, Vector x) const { axpy(a, y, x); }
  /// sum = x + a M y.
  void add_preconditioned(double a, ConstVector y, ConstVector x, Vector sum) const {
    precondition(y, sum);
    aypx(a, x, sum);
  }

  const System& system;
};

/// Basis, A and M in single precision, x and its residual in double: iterative refinement by cycles (Turner &
/// Walker 1992; Lindquist, Luszczek & Dongarra 2021). Orthogonalized by ircgs.
struct FloatArithmetic {
  using Real = float;
  using Coefficient = double;
  static constexpr bool is_exact = false;

  explicit FloatArithmetic(const System& of)
      : system(of), difference(comm::agree(of.sum.comm(), [&] { return Array<double>(of.b.size()); })) {}

  /// Collective.
  void prepare() {
    a = float_matrix(system);
    m = float_preconditioner(system);
  }
  double residual(ConstVector x, FloatVector v) {
    const double unit = scaled_residual(system, x, difference);
    parallel_for(static_cast<std::int64_t>(v.size()),
                 [&](std::int64_t i) { v[i] = static_cast<float>(difference[i]); });
    return unit;
  }
  void precondition(ConstFloatVector x, FloatVector y) const { m->apply_float(x, y); }
  void multiply(ConstFloatVector x, FloatVector y) const { a->apply_float(x, y); }
  double orthogonalize(const Orthogonalize&, const FloatBasis& basis, FloatVector w,
                       std::span<double> h) const {
    return apply_ircgs(system.sum, basis, w, h);
  }
  void add(double factor, ConstFloatVector y, Vector x) const { add(factor, y, x, x); }
  void add_preconditioned(double factor, ConstFloatVector y, ConstVector x, Vector sum) const {
    Array<float> my(y.size());
    precondition(y, my);
    add(factor, my, x, sum);
  }
  /// sum = x + factor y.
  void add(double factor, ConstFloatVector y, ConstVector x, Vector sum) const {
    factor *= a->scale();  // that of M is in y, and in what A is applied to
    parallel_for(static_cast<std::int64_t>(x.size()),
                 [&](std::int64_t i) { sum[i] = x[i] + factor * static_cast<double>(y[i]); });
  }

  const System& system;
  Array<double> difference;  ///< b - A x, scaled
  std::unique_ptr<sparse::FloatOperator> a;
  std::unique_ptr<sparse::FloatOperator> m;
};

/// GMRES(m) (Saad & Schultz 1986), preconditioned from the right so that its residual is that of A x = b,
/// FGMRES (Saad 1993), which keeps every preconditioned vector and so lets the preconditioner change, and
/// p1-GMRES (Ghysels, Ashby, Meerbergen & Vanroose 2013), whose one reduction in a step goes on during the
/// next product and preconditioner.
template <class Arithmetic>
class Gmres {
  using Real = typename Arithmetic::Real;
  using Coefficient = typename Arithmetic::Coefficient;
  using Span = std::span<Real>;
  using Coefficients = std::span<const Coefficient>;
  static constexpr bool is_complex = std::is_same_v<Coefficient, Complex>;
  static constexpr int nothing = -1;

 public:
  Gmres(const System& system, Vector x, const MethodOptions& options, const Orthogonalize& orthogonalize,
        const Progress& progress, Variant variant)
      : system_(system),
        in_(system),
        options_(options),
        x_(x),
        orthogonalize_(&orthogonalize),
        variant_(variant),
        flexible_(variant == Variant::flexible),
        useful_(useful_basis(system, options, x.size())),
        m_(std::min(options.restart, useful_)),
        space_(system.sum.comm(), x.size(), m_, variant),
        monitor_(system.sum, options, progress, in_.residual(x, v(0))) {}

  MethodResult solve() {
    if (monitor_.stopped()) return monitor_.result();
    in_.prepare();
    double residual = 1;
    while (!monitor_.stopped()) {
      const bool complete = build(residual);
      if (!update()) {
        monitor_.correct(residual);
        break;
      }
      if (monitor_.stopped() && complete && Arithmetic::is_exact) break;
      residual = restart(residual);
    }
    return monitor_.result();
  }

 private:
  /// Memory for a cycle of at most `capacity` basis vectors.
  struct Space {
    /// Collective.
    Space(const comm::Comm& comm, std::size_t n, int size, Variant variant)
        : capacity(size),
          work(comm, n, (size + 1) + (variant == Variant::plain ? 1 : size + 1)),
          least_squares(comm::agree(comm, [&] { return HessenbergLeastSquaresOf<Coefficient>(size); })),
          h(comm::agree(comm, [&] { return Array<Coefficient>(orthogonalization_work_size(size)); })) {}

    int capacity;
    WorkspaceOf<Real> work;
    HessenbergLeastSquaresOf<Coefficient> least_squares;
    Array<Coefficient> h;
  };

  Span v(int j) { return space_.work[j]; }
  /// M v_j: kept for every j when flexible, otherwise one work vector.
  Span z(int j) { return space_.work[space_.capacity + 1 + (flexible_ ? j : 0)]; }
  BasisOf<Real> basis(int size) const { return space_.work.basis(0, size); }
  /// (A M - shift) v_j, of p1-GMRES.
  Span image(int j) { return space_.work[space_.capacity + 2 + j]; }
  BasisOf<Real> images(int size) const { return space_.work.basis(space_.capacity + 2, size); }

  bool build(double residual) {
    if constexpr (Arithmetic::is_exact && !is_complex)
      if (variant_ == Variant::pipelined) return build_pipelined_basis(residual);
    return build_basis(residual);
  }

  /// One cycle: an orthonormal basis of the Krylov space from v_0, and with it the least squares problem.
  /// False if the space ended before m vectors: then it holds the solution, or A is singular.
  bool build_basis(double residual) {
    space_.least_squares.restart(residual);
    for (int j = 0; j < m_ && !monitor_.stopped(); ++j) {
      const Span w = v(j + 1);
      in_.precondition(v(j), z(j));
      in_z_ = j;
      in_.multiply(z(j), w);
      const double norm = in_.orthogonalize(*orthogonalize_, basis(j + 1), w, space_.h);
      if (!append(j, norm)) return false;
      monitor_.step(space_.least_squares.residual());
      if (is_end_of_space(j, norm)) return false;
      if (options_.inside_cycle) options_.inside_cycle([this](Vector z) { form_iterate(z); });
      scale(1 / norm, w);
      if (Arithmetic::is_exact ? has_lost_orthogonality(j, residual)
                               : space_.least_squares.residual() <= share_ * residual)
        break;
    }
    return true;
  }

  /// The same, a step behind: while the products of image j with the basis are summed, A M is applied to it,
  /// and what comes of it is corrected by these products to the image of v_(j+1). A M is shifted by v_0's
  /// Rayleigh quotient, so that images do not all point the same way.
  ///
  /// Beside gmres: as many vectors again, and half as much more traffic.
  bool build_pipelined_basis(double residual) {
    space_.least_squares.restart(residual);
    multiply(v(0), image(0));
    const double shift = dot(system_.sum, v(0), image(0));
    axpy(-shift, v(0), image(0));
    for (int j = 0; j < m_ && !monitor_.stopped(); ++j) {
      const bool is_last = j + 1 == m_ || monitor_.expects_end();
      const double norm = orthogonalize_image(j, is_last);
      space_.h[j] += shift;
      if (!append(j, norm)) return false;
      monitor_.step(space_.least_squares.residual());
      if (is_end_of_space(j, norm)) return false;
      if (options_.inside_cycle) options_.inside_cycle([this](Vector z) { form_iterate(z); });
      scale(1 / norm, v(j + 1));
      if (monitor_.stopped() || j + 1 == m_) break;
      if (is_last) multiply(image(j), image(j + 1));
      subtract_combination(images(j + 1), space_.h, image(j + 1));
      scale(1 / norm, image(j + 1));
    }
    return true;
  }

  /// v_(j+1) = image j without what lies in the basis, not normalised; its norm. h is that column of H but
  /// for the shift. Meanwhile A M is applied to the image, unless it is the last one.
  double orthogonalize_image(int j, bool is_last) {
    const auto k = static_cast<std::size_t>(j) + 1;
    const std::span<double> h(space_.h);
    h[k] = local_dots(basis(j + 1), image(j), h);
    if (is_last) {
      system_.sum(h.first(k + 1));
    } else {
      system_.sum.during(h.first(k + 1), [&] { multiply(image(j), image(j + 1)); });
    }
    double left = h[k];
    for (std::size_t i = 0; i < k; ++i) left -= h[i] * h[i];
    copy(image(j), v(j + 1));
    const double local_square = subtract_combination(basis(j + 1), h, v(j + 1));
    return std::sqrt(left >= safe_share * h[k] ? left : system_.sum(local_square));
  }

  void multiply(ConstVector x, Vector amx) {
    in_z_ = nothing;
    system_.m.apply(x, z(0));
    system_.sum.progress();
    system_.a.apply(z(0), amx);
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
    return norm <= 10 * static_cast<double>(std::numeric_limits<Real>::epsilon()) * size;
  }

  /// Whether v_(j+1) is not orthogonal to the basis any more, in a cycle that began with this residual. That
  /// is measured, with a reduction, where it may be and where the step has gained less than half of what
  /// steps have gained on average: the residual stalls then, and a new cycle goes on.
  bool has_lost_orthogonality(int j, double start) {
    const double now = space_.least_squares.residual();
    const double last = std::exchange(last_residual_, now);
    if (monitor_.stopped() || j == 0 || now > risky_share * start) return false;
    const double usual_step = std::pow(last / start, 1.0 / j);
    if (now <= std::sqrt(usual_step) * last) return false;
    const auto k = static_cast<std::size_t>(j) + 1;
    const std::span<Coefficient> h(space_.h);
    if constexpr (is_complex)
      h[k] = local_dots(as_complex(basis(j + 1)), as_complex(v(j + 1)), h);
    else
      h[k] = local_dots(basis(j + 1), v(j + 1), h);
    system_.sum(as_pairs(h.first(k + 1)));
    double inside = 0;
    for (std::size_t i = 0; i < k; ++i) inside += std::norm(h[i]);
    return !(inside <= lost_orthogonality * lost_orthogonality * std::real(h[k]));
  }

  /// x = x + M V y, or x + Z y when flexible. The update stays in v_m or z_0 until the next cycle. False, and
  /// x as it was, if there is none to make or it is not finite.
  bool update() {
    const int k = space_.least_squares.columns();
    if (k == 0) return false;
    const auto y = space_.least_squares.solve();
    if (k == 1 && !flexible_ && in_z_ == 0) {  // complete factors are applied once, not twice
      if constexpr (is_complex)
        scale(y[0], as_complex(z(0)));
      else
        scale(y[0], z(0));
    } else {
      add_up(flexible_ ? space_.work.basis(space_.capacity + 1, k) : basis(k), y, v(k));
      if (!flexible_) in_.precondition(v(k), z(0));
    }
    if (!std::isfinite(system_.sum(local_max_abs(last_update())))) {
      monitor_.breakdown(fmt::format("the correction of x from {} vectors overflows", k));
      return false;
    }
    in_.add(monitor_.unit(), last_update(), x_);
    return true;
  }
  /// z = x + M V y, or x + Z y when flexible, in the midst of a cycle: that of k steps, and the basis stays.
  void form_iterate(Vector iterate) {
    const int k = space_.least_squares.columns();
    const auto y = space_.least_squares.solve();
    if constexpr (Arithmetic::is_exact) {
      if (flexible_) {
        add_up(space_.work.basis(space_.capacity + 1, k), y, iterate);
        aypx(monitor_.unit(), x_, iterate);
        return;
      }
    }
    in_z_ = nothing;
    add_up(basis(k), y, z(0));
    in_.add_preconditioned(monitor_.unit(), z(0), x_, iterate);
  }
  /// w = V y
  static void add_up(const BasisOf<Real>& of, Coefficients y, Span w) {
    if constexpr (is_complex)
      combine(as_complex(of), y, as_complex(w));
    else
      combine(of, y, w);
  }
  Span last_update() { return flexible_ ? v(space_.least_squares.columns()) : z(0); }

  /// Computes the residual anew, and v_0 from it. Returns its norm, in units of the first; ends the method
  /// where the cycle was of no use and the next would be the same. An update that made the residual worse,
  /// which only lost orthogonality can do, is taken back.
  double restart(double before) {
    const double now = in_.residual(x_, v(0)) / monitor_.unit();
    const bool worse = !(now <= before);
    const bool is_false = !(now <= drifted * space_.least_squares.residual());
    const bool drifts = is_false && answer_drift(now / before);
    useless_ = is_false && !(now <= before / 2) ? useless_ + 1 : 0;
    if (worse) in_.add(-monitor_.unit(), last_update(), x_);
    const double reached = worse ? before : now;
    monitor_.correct(reached);
    if (monitor_.stopped()) return reached;
    const bool useless = worse || (!flexible_ && now > (1 - no_progress) * before);
    const bool changes = plan_next_cycle(before, now) || drifts;
    if (useless && !changes) {
      monitor_.stagnated(uselessness(worse, before, now));
    } else if (!Arithmetic::is_exact && useless_ >= most_useless) {
      monitor_.stagnated("single precision shrinks the residual no further");
    } else if (worse) {
      in_.residual(x_, v(0));
    }
    return reached;
  }

  /// What a residual calls for that is not what the least squares problem has; it has shrunk to this share.
  /// Whether the next cycle is another one.
  bool answer_drift(double share) {
    if constexpr (Arithmetic::is_exact) {  // images that follow by recurrence may drift: gmres goes on
      return std::exchange(variant_, flexible_ ? Variant::flexible : Variant::plain) == Variant::pipelined;
    } else {  // single precision has no more digits to give: cycles end sooner
      return share > std::exchange(share_, std::min(largest_share, std::max(share_, share)));
    }
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
    // Another orthogonalization than the one that p1-GMRES has built in is the end of overlapping.
    if (cycle.orthogonalize != orthogonalize_ && variant_ == Variant::pipelined) variant_ = Variant::plain;
    orthogonalize_ = cycle.orthogonalize;
    if (m > space_.capacity) {
      Space larger(system_.sum.comm(), x_.size(), m, variant_);
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
                       "basis had lost orthogonality, or the limit of {} precision is reached",
                       k, before * unit, now * unit, Arithmetic::is_exact ? "double" : "single")
                 : fmt::format(
                       "a cycle of {} vectors left the residual norm at {:.3g}: the next would repeat it", k,
                       now * unit);
  }

  const System& system_;
  Arithmetic in_;
  const MethodOptions& options_;
  Vector x_;
  const Orthogonalize* orthogonalize_;
  Variant variant_;
  bool flexible_;
  int useful_;
  int m_;  ///< basis vectors of a cycle, at most
  Space space_;
  Monitor monitor_;
  double last_residual_ = 0;  ///< residual of the least squares problem
  int in_z_ = nothing;        ///< the j whose M v_j stands in z_0, unless flexible
  double share_ = first_share;
  int useless_ = 0;
};

/// In the arithmetic of the system.
template <Variant variant>
MethodResult solve_in_double(const System& system, Vector x, const MethodOptions& options,
                             const Orthogonalize& orthogonalize, const Progress& progress) {
  const auto solve = [&]<class Scalar>(Scalar) {
    return Gmres<DoubleArithmetic<Scalar>>(system, x, options, orthogonalize, progress, variant).solve();
  };
  return system.is_complex ? solve(Complex()) : solve(0.0);
}

MethodResult solve_pipelined_gmres(const System& system, Vector x, const MethodOptions& options,
                                   const Orthogonalize& orthogonalize, const Progress& progress) {
  return Gmres<DoubleArithmetic<double>>(system, x, options, orthogonalize, progress, Variant::pipelined)
      .solve();
}

MethodResult solve_refined_gmres(const System& system, Vector x, const MethodOptions& options,
                                 const Orthogonalize& orthogonalize, const Progress& progress) {
  return Gmres<FloatArithmetic>(system, x, options, orthogonalize, progress, Variant::plain).solve();
}

}  // namespace

const Method gmres_method{.name = "gmres",
                          .description = "restarted GMRES, for any matrix",
                          .needs_symmetric = false,
                          .needs_definite = false,
                          .needs_symmetric_preconditioner = false,
                          .restarts = true,
                          .traffic = 40,
                          .solve = solve_in_double<Variant::plain>,
                          .takes_complex = true};

const Method fgmres_method{.name = "fgmres",
                           .description = "GMRES that lets the preconditioner change, for twice the memory",
                           .needs_symmetric = false,
                           .needs_definite = false,
                           .needs_symmetric_preconditioner = false,
                           .restarts = true,
                           .traffic = 40,
                           .solve = solve_in_double<Variant::flexible>,
                           .takes_complex = true};

const Method pipelined_gmres_method{
    .name = "pipelined-gmres",
    .description = "restarted GMRES whose reduction goes on during the next product, for many ranks",
    .needs_symmetric = false,
    .needs_definite = false,
    .needs_symmetric_preconditioner = false,
    .restarts = true,
    .traffic = 60,
    .solve = solve_pipelined_gmres,
    .only_orthogonalization = "cgs"};

const Method refined_gmres_method{
    .name = "refined-gmres",
    .description = "restarted GMRES in single precision, the residual in double",
    .needs_symmetric = false,
    .needs_definite = false,
    .needs_symmetric_preconditioner = false,
    .restarts = true,
    .traffic = 20,
    .solve = solve_refined_gmres,
    .only_orthogonalization = "ircgs"};

}  // namespace ayatori::solvers
