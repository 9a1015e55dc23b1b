#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ayatori/session/solve/linear_preconditioner.hpp"
#include "petsc/petsc.hpp"

namespace ayatori::petsc {

/// How a solve of a matrix that is known by its products ended.
struct ShellOutcome {
  bool converged = false;
  std::string end;  ///< in a word, and why
  std::int64_t iterations = 0;
  double residual_norm = 0;  ///< ||b - A x||, of the product that PETSc makes
};

struct ShellGoal {
  double rtol = 0;
  double atol = 0;
  int max_iterations = 0;
  int restart = 30;
};

/// Collective. Flexible GMRES from x until ||b - A x|| <= max(rtol ||b||, atol). `progress` is told
/// the iteration and the residual norm believed in, and may stop the solve, on all ranks, by false. An error
/// of a product is returned.
PetscErrorCode solve_shell(const comm::Comm& comm, Mat a, const session::LinearPreconditioner& m, Vec b,
                           Vec x, const ShellGoal& goal,
                           const std::function<bool(std::int64_t, double)>& progress, ShellOutcome& outcome);

}  // namespace ayatori::petsc
