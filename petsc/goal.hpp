#pragma once

#include <cstdint>

#include "petsc/petsc.hpp"

namespace ayatori::petsc {

/// What PETSc's convergence test asks of a solve.
struct Goal {
  double b_norm = 0;          ///< ||b||, for the scale of what the solver is told
  double first = 0;           ///< ||b - A x|| of the guess, where it is needed, else ||b||
  double limit = 0;           ///< bound on ||b - A x||
  bool is_theirs = false;     ///< a test of the program's own, which decides
  bool accepts_most = false;  ///< to have made all iterations is enough
  bool needs_first = false;   ///< the residual of the guess
  /// The limit in units of ||b||, in (0, 1), a little less where rounding might count.
  double relative() const;
};

/// By the method's tolerances and its test. `first`: nullptr, or ||b - A x|| of the guess.
PetscErrorCode find_goal(KSP ksp, double b_norm, Goal& goal);

/// Sets what the test goes by, and rnorm0 and ttol of the method, when the residual of the guess is known.
PetscErrorCode begin_test(KSP ksp, double first, Goal& goal);

/// The reason for a solve that has ended, by the residual norm that is verified up to `bound`. `converged`:
/// it meets the limit, proved. Positive only where it does, or where the program's own test, or its wish that
/// all iterations be enough, says so of that residual.
PetscErrorCode find_reason(KSP ksp, const Goal& goal, bool converged, std::int64_t iterations, double norm,
                           double bound, KSPConvergedReason& reason);

}  // namespace ayatori::petsc
