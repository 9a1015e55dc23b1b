#pragma once

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/row_block.hpp"
#include "petsc/petsc.hpp"

namespace ayatori::petsc {

/// Whether the entries of a matrix can be had: AIJ as it is, and what PETSc converts without products.
PetscErrorCode has_rows(Mat matrix, bool& has);

/// Collective. This rank's rows of a square matrix that has_rows(), spread as its vectors are. `finite`:
/// whether all entries of all ranks are.
PetscErrorCode make_rows(const comm::Comm& comm, Mat matrix, sparse::RowBlock& rows, bool& finite);

/// Collective. The same, split into own and other columns, which PETSc does already.
PetscErrorCode split_rows(const comm::Comm& comm, Mat matrix, sparse::SplitMatrix& parts, bool& finite);

/// Identity and state of the matrices that a set-up was made from.
struct MatrixStamp {
  PetscObjectId id = 0;
  PetscObjectState state = -1;
  bool operator==(const MatrixStamp&) const = default;
};
PetscErrorCode stamp_of(Mat matrix, MatrixStamp& stamp);

}  // namespace ayatori::petsc
