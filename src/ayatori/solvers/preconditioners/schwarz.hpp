#pragma once

#include <string_view>

#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/preconditioners/factorizations/factored_block.hpp"

namespace ayatori::solvers {

/// Collective. The additive Schwarz preconditioner whose blocks, one per thread or options.blocks per rank,
/// are factored as `factoring` says and overlap by options.overlap layers of rows, across threads and ranks
/// alike: each block gets the rows that the matrix leads to in this many steps. Without overlap that is block
/// Jacobi with incomplete factors.
///
/// For ilu and ilut it is the restricted one (Cai & Sarkis 1999): y takes from each block the rows that are
/// its own. For ic, symmetry wants x and y treated alike: y = sum_b W R_b^T M_b R_b W x, with W the inverse
/// square roots of how many blocks hold a row. `default_fill` stands for options.fill < 0. Throws InputError
/// (agreed), beginning with `who`, for options out of range.
BuiltPreconditioner make_schwarz(std::string_view who, FactorOptions::Kind kind, int default_fill,
                                 const sparse::DistributedMatrix& matrix, PreconditionerOptions options);

}  // namespace ayatori::solvers
