#pragma once

#include <string>
#include <vector>

#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::solvers {

/// The preconditioner block-jacobi as a matrix of this rank's rows, all of whose columns are its own.
struct BlockInverses {
  sparse::Csr matrix;
  std::vector<std::string> notes;
};

/// Collective. Throws Error (agreed).
BlockInverses block_jacobi_inverses(const sparse::DistributedMatrix& matrix,
                                    const PreconditionerOptions& options);

}  // namespace ayatori::solvers
