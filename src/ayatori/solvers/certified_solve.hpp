#pragma once

#include <cstdint>
#include <functional>

#include "ayatori/solvers/certified_norm.hpp"
#include "ayatori/solvers/method.hpp"

namespace ayatori::solvers {

/// What ||b - A x|| has to be, in units of a power of two near ||b||: no square overflows or underflows in
/// them.
struct Tolerance {
  double unit = 1;
  double b_norm = 0;  ///< as computed
  double limit = 0;   ///< max(rtol ||b||, atol), or a little less where rounding leaves that open
};

/// Collective. Of a b that may hold anything; the limit is NaN where b is not finite.
Tolerance make_tolerance(const GlobalSum& sum, ConstVector b, double rtol, double atol);

/// This rank's sums of b - A x, with their errors, in such a unit.
using ResidualFunction =
    std::function<sparse::ResidualSums(ConstVector x, sparse::Summation summation, double unit)>;

/// Where A is known by its products alone: what the operator itself rounds in them goes unnoticed.
ResidualFunction residual_by_product(const System& system);

/// Collective. ||b - A x|| in units of the tolerance, in as many digits as tell whether it meets that;
/// `rows`: of all ranks.
CertifiedNorm certified_residual(const GlobalSum& sum, const ResidualFunction& residual, ConstVector x,
                                 const Tolerance& tolerance, std::int64_t rows);

/// How a method ended, and what is proved of its x.
struct CertifiedResult {
  MethodResult last = {.stop = Stop::converged};  ///< result of the last run
  std::int64_t iterations = 0;                    ///< iterations of all runs
  CertifiedNorm residual;                         ///< ||b - A x|| in units of the tolerance
  bool is_proved = false;                         ///< that it meets the limit
};

/// Collective. Runs a method from x until its residual is proved to meet the tolerance. A method that only
/// believes so goes on from its x, aiming lower, while that gets nearer. `options.target` is set here.
CertifiedResult solve_certified(const Method& method, const System& system, Vector x,
                                const ResidualFunction& residual, const Tolerance& tolerance,
                                MethodOptions options, const Orthogonalize& orthogonalize,
                                const Progress& progress);

}  // namespace ayatori::solvers
