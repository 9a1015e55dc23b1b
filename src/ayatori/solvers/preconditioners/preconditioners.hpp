#pragma once

#include "ayatori/solvers/preconditioner.hpp"

// Each file named after a preconditioner defines it; list.cpp names them all.

namespace ayatori::solvers {

extern const Preconditioner none_preconditioner;
extern const Preconditioner jacobi_preconditioner;
extern const Preconditioner ssor_preconditioner;
extern const Preconditioner block_jacobi_preconditioner;
extern const Preconditioner block_ilu0_preconditioner;
extern const Preconditioner boomeramg_preconditioner;  ///< where the build has hypre
extern const Preconditioner direct_preconditioner;     ///< where the build has KLU or MUMPS
extern const Preconditioner fsai_preconditioner;
extern const Preconditioner gmres_polynomial_preconditioner;
extern const Preconditioner ic_preconditioner;
extern const Preconditioner ilu_preconditioner;
extern const Preconditioner ilut_preconditioner;
extern const Preconditioner neumann_preconditioner;
extern const Preconditioner chebyshev_preconditioner;
extern const Preconditioner amg_preconditioner;
extern const Preconditioner schur_preconditioner;
extern const Preconditioner schur_definite_preconditioner;

}  // namespace ayatori::solvers
