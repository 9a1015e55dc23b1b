#pragma once

#include <span>
#include <string_view>

namespace ayatori::forecast {

/// What an iteration of a method asks of the machine, as the code of solvers::methods() and bench::NpbCg has
/// it, averaged over a cycle where that repeats.
struct IterationWork {
  std::string_view name;
  std::string_view meaning;  ///< meaning of an iteration
  double products;           ///< with A
  double reductions;         ///< over all ranks
  double summed;             ///< doubles in one of them, with the vote and the clock of solvers::GlobalSum
  double traffic;            ///< doubles per row that vector operations move, without preconditioner
  int vectors;               ///< that are used, x and z = M r among them
  double preconditionings;
  double overlapped = 0;  ///< reductions that go on during a product and a preconditioner
};

/// cg, cocg, minres, bicgstab, idr, gmres, their pipelined forms and npb-cg (the benchmark with two
/// reductions). Every method of solvers::methods() in double precision that has no restart; of those that
/// have, with 30 basis vectors and cgs.
std::span<const IterationWork> iteration_works();

/// An entry in the list of preconditioners that a forecast knows: those without messages that move vectors
/// only.
struct VectorPreconditioner {
  std::string_view name;
  double traffic;  ///< doubles per row of applying it
};

/// none (z = r is a copy) and jacobi.
std::span<const VectorPreconditioner> vector_preconditioners();

}  // namespace ayatori::forecast
