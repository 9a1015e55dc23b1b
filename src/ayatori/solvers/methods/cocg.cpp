#include <array>
#include <cmath>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/methods/methods.hpp"
#include "ayatori/solvers/methods/monitor.hpp"
#include "ayatori/solvers/methods/workspace.hpp"

namespace ayatori::solvers {

namespace {

/// Conjugate orthogonal conjugate gradients (van der Vorst & Melissen, IEEE Trans. Magnetics 26, 1990), for
/// complex matrices that are equal to their transpose, with a preconditioner that is so as well: the
/// recurrences of conjugate gradients with products x^T y in place of x^H y. One product with A in an
/// iteration, two reductions. Such products may vanish: the recurrence then starts again from the residual
/// reached. Of real systems these are conjugate gradients that ask for no definite matrix. Traffic beside A
/// and M: 14 numbers per row and iteration.
template <class Scalar>
class Cocg {
  using Elements = std::span<Scalar>;

 public:
  Cocg(const System& system, Vector x, const MethodOptions& options, const Progress& progress)
      : system_(system),
        x_(as<Scalar>(x)),
        work_(system.sum.comm(), x.size(), 5),
        best_(x, work_[4]),
        monitor_(system.sum, options, progress, scaled_residual(system, x, as_pairs(r_))) {}

  MethodResult solve() {
    if (monitor_.stopped()) return monitor_.result();
    Scalar rho = begin();
    while (!monitor_.stopped()) rho = step(rho);
    monitor_.correct(best_.restore());
    return monitor_.result();
  }

 private:
  /// Beginnings that lead nowhere in a row before the method ends.
  static constexpr int most_restarts = 3;

  /// r^T M r, and p = M r.
  Scalar begin() {
    const Scalar rho = precondition().product;
    copy(as_pairs(z_), as_pairs(p_));
    return rho;
  }

  struct Preconditioned {
    Scalar product;  ///< r^T M r
    double square;   ///< (r, r)
  };
  Preconditioned precondition() {
    system_.m.apply(as_pairs(r_), as_pairs(z_));
    auto sums = local_transposed_dot_and_square(z_, r_);
    system_.sum(as_pairs(Elements(sums)));
    return {sums[0], std::real(sums[1])};
  }

  /// Gives the next r^T M r.
  Scalar step(Scalar rho) {
    system_.a.apply(as_pairs(p_), as_pairs(q_));
    auto sums = local_transposed_dot_and_square(p_, q_);
    system_.sum(as_pairs(Elements(sums)));
    const Scalar curvature = sums[0];
    if (!monitor_.check_finite(std::abs(curvature) + std::abs(rho), "p^T A p")) return rho;
    if (curvature == 0.0 || rho == 0.0) return restart(curvature, rho);
    const Scalar alpha = rho / curvature;
    axpy(-alpha, q_, r_);
    const Preconditioned next = precondition();
    const double norm = std::sqrt(next.square);
    monitor_.step(norm);
    if (!std::isfinite(norm)) return rho;
    best_.before_update(norm);
    axpy(alpha * monitor_.unit(), p_, x_);
    restarts_ = 0;
    aypx(next.product / rho, z_, p_);
    return next.product;
  }

  Scalar restart(Scalar curvature, Scalar rho) {
    if (++restarts_ <= most_restarts && rho != 0.0) return begin();
    monitor_.breakdown(
        fmt::format("p^T A p = {:.3g} and r^T M r = {:.3g}", std::abs(curvature), std::abs(rho)));
    return rho;
  }

  const System& system_;
  Elements x_;
  Workspace work_;
  Elements r_ = as<Scalar>(work_[0]);
  Elements z_ = as<Scalar>(work_[1]);
  Elements p_ = as<Scalar>(work_[2]);
  Elements q_ = as<Scalar>(work_[3]);
  BestIterate best_;
  Monitor monitor_;
  int restarts_ = 0;  ///< since the last step
};

MethodResult solve_cocg(const System& system, Vector x, const MethodOptions& options, const Orthogonalize&,
                        const Progress& progress) {
  if (system.is_complex) return Cocg<Complex>(system, x, options, progress).solve();
  return Cocg<double>(system, x, options, progress).solve();
}

}  // namespace

const Method cocg_method{
    .name = "cocg",
    .description = "conjugate orthogonal conjugate gradients, for complex symmetric matrices",
    .needs_symmetric = false,
    .needs_definite = false,
    .needs_symmetric_preconditioner = false,
    .restarts = false,
    .traffic = 14,
    .solve = solve_cocg,
    .takes_complex = true,
    .needs_complex_symmetric = true};

}  // namespace ayatori::solvers
