#pragma once

#include "ayatori/collectives/pmpi/library.hpp"

namespace ayatori::pmpi {

/// How the elements of a type lie in memory.
struct Layout {
  bool is_type = false;        ///< one that the MPI takes
  MPI_Count size = 0;          ///< bytes of data of one
  MPI_Aint extent = 0;         ///< bytes from one to the next
  bool is_contiguous = false;  ///< data without holes, in the order of memory
  bool is_named = false;       ///< one of MPI's own
};

/// Layout of anything that a program hands in as a type. What the MPI does not take in a call, since it is
/// none or was not committed, has a layout of no bytes.
Layout layout_of(MPI_Datatype type);
/// Likewise, of a type that the MPI takes without having been committed.
Layout layout_of_any(MPI_Datatype type);

/// Whether the operation is one of MPI's own that reduce, all of which commute.
bool is_named(MPI_Op op);
/// Whether the operation may reduce at all: the others are none, or those of one-sided calls.
bool reduces(MPI_Op op);
/// Whether MPI defines its own operation for this type of its own. Types of which not every MPI has all are
/// left out.
bool is_defined(MPI_Op op, MPI_Datatype type);

}  // namespace ayatori::pmpi
