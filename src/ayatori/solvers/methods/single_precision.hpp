#pragma once

#include <memory>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/sparse/products/float_operator.hpp"

// Single precision inside a method in double precision: vectors of float, sums in double.

namespace ayatori::solvers {

/// Collective. The matrix of a system: its own values in float if it is a DistributedMatrix, otherwise
/// applied in double to converted vectors.
std::unique_ptr<sparse::FloatOperator> float_matrix(const System& system);

/// Collective. Likewise the preconditioner, in float if it can be applied so (sparse::FloatApplicable), in
/// double to converted vectors if not, at 24 bytes per row more.
std::unique_ptr<sparse::FloatOperator> float_preconditioner(const System& system);

}  // namespace ayatori::solvers
