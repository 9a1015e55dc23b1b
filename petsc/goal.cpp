#include "petsc/goal.hpp"

#include <algorithm>
#include <limits>

namespace ayatori::petsc {

double Goal::relative() const {
  constexpr double nearly_all = 0.99;
  constexpr double rounding = 1e-12;
  if (is_theirs) return 1e-13;  // the test ends the solve
  return std::clamp(limit / b_norm * (1 - rounding), 1e-300, nearly_all);
}

PetscErrorCode find_goal(KSP ksp, double b_norm, Goal& goal) {
  goal.b_norm = goal.first = b_norm;
  goal.is_theirs = ksp->converged != KSPConvergedDefault;
  goal.needs_first = ksp->numbermonitors > 0 || ksp->res_hist != nullptr || goal.is_theirs;
  if (!goal.is_theirs && ksp->cnvP != nullptr) {
    const auto& test = *static_cast<const KSPConvergedDefaultCtx*>(ksp->cnvP);
    goal.accepts_most = test.convmaxits || ksp->normtype == KSP_NORM_NONE;
    goal.needs_first = goal.needs_first || test.initialrtol || test.mininitialrtol;
  }
  return success;
}

PetscErrorCode begin_test(KSP ksp, double first, Goal& goal) {
  goal.first = first;
  double reference = goal.b_norm;
  if (!goal.is_theirs && ksp->cnvP != nullptr) {
    const auto& test = *static_cast<const KSPConvergedDefaultCtx*>(ksp->cnvP);
    if (test.initialrtol) reference = first;
    if (test.mininitialrtol) reference = std::min(goal.b_norm, first);
  }
  ksp->rnorm0 = reference;
  ksp->ttol = std::max(ksp->rtol * reference, ksp->abstol);
  goal.limit = ksp->ttol;
  return success;
}

PetscErrorCode find_reason(KSP ksp, const Goal& goal, bool converged, std::int64_t iterations, double norm,
                           double bound, KSPConvergedReason& reason) {
  reason = KSP_CONVERGED_ITERATING;
  if (goal.is_theirs)
    PetscCall((*ksp->converged)(ksp, static_cast<PetscInt>(iterations), norm, &reason, ksp->cnvP));
  if (reason != KSP_CONVERGED_ITERATING) return success;
  if (converged) {
    reason = norm + bound < ksp->abstol ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
  } else if (PetscIsInfOrNanReal(norm)) {
    reason = KSP_DIVERGED_NANORINF;
  } else if (iterations >= ksp->max_it) {
    reason = goal.accepts_most ? KSP_CONVERGED_ITS : KSP_DIVERGED_ITS;
  } else if (norm >= ksp->divtol * ksp->rnorm0) {
    reason = KSP_DIVERGED_DTOL;
  } else {
    reason = KSP_DIVERGED_BREAKDOWN;
  }
  return success;
}

}  // namespace ayatori::petsc
