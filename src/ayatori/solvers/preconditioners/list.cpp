#include <array>

#include "ayatori/base/find_named.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

std::span<const Preconditioner> preconditioners() {
  static const std::array list {
    none_preconditioner, jacobi_preconditioner, ssor_preconditioner, block_jacobi_preconditioner,
        block_ilu0_preconditioner, ic_preconditioner, ilu_preconditioner, ilut_preconditioner,
        fsai_preconditioner, neumann_preconditioner,
#if defined AYATORI_HAS_MUMPS || defined AYATORI_HAS_KLU
        direct_preconditioner,
#endif
#ifdef AYATORI_HAS_HYPRE
        boomeramg_preconditioner,
#endif
        chebyshev_preconditioner, gmres_polynomial_preconditioner, amg_preconditioner, schur_preconditioner,
        schur_definite_preconditioner
  };
  return list;
}

const Preconditioner& preconditioner(std::string_view name) {
  return find_named(preconditioners(), name, "preconditioner");
}

}  // namespace ayatori::solvers
