#include <array>

#include "ayatori/base/find_named.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

std::span<const Preconditioner> preconditioners() {
  static const std::array list{none_preconditioner,       jacobi_preconditioner,  block_jacobi_preconditioner,
                               block_ilu0_preconditioner, neumann_preconditioner, chebyshev_preconditioner,
                               amg_preconditioner};
  return list;
}

const Preconditioner& preconditioner(std::string_view name) {
  return find_named(preconditioners(), name, "preconditioner");
}

}  // namespace ayatori::solvers
