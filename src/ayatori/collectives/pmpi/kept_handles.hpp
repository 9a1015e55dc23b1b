#pragma once

#include "ayatori/collectives/pmpi/library.hpp"

// A program may free its types and operations while calls that it has begun still use them. They are freed
// when those have ended.

namespace ayatori::pmpi {

/// Until it is let go. MPI's own need not be kept, and are not.
void keep_type(MPI_Datatype type);
void let_type_go(MPI_Datatype type);
void keep_op(MPI_Op op);
void let_op_go(MPI_Op op);

/// The program frees it: true if it is in use, and will be freed later. The handle is then null.
bool free_type_later(MPI_Datatype* type);
bool free_op_later(MPI_Op* op);

}  // namespace ayatori::pmpi
