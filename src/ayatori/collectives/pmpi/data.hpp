#pragma once

#include "ayatori/collectives/pmpi/library.hpp"

namespace ayatori::pmpi {

/// How the elements of a type lie in memory.
struct Layout {
  MPI_Count size = 0;     ///< bytes of data of one
  MPI_Aint extent = 0;    ///< bytes from one to the next
  bool is_plain = false;  ///< data without holes, in the order of memory
  bool is_named = false;  ///< one of MPI's own
};

Layout layout_of(MPI_Datatype type);

/// Whether the operation is one of MPI's own, all of which commute.
bool is_named(MPI_Op op);
/// Whether MPI defines its own operation for this type of its own. Types of which not every MPI has all are
/// left out.
bool is_defined(MPI_Op op, MPI_Datatype type);

}  // namespace ayatori::pmpi
