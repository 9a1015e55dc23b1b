#pragma once

#include "ayatori/comm/comm.hpp"
#include "ayatori/solvers/certified_solve.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::session {

/// What is proved of an x.
struct Verified {
  double relative_residual = 0;     ///< ||b - A x|| / ||b||, as computed
  double residual_error_bound = 0;  ///< the exact one is no farther from it
  bool meets_tolerance = false;     ///< which is proved
};

/// The residuals of a matrix whose entries are known. All arguments outlive it. Its calls are collective.
solvers::ResidualFunction residual_by_entries(const comm::Comm& comm, const sparse::SplitMatrix& parts,
                                              solvers::ConstVector b);

/// Collective. Of an x that may be anyone's; all of this rank's rows.
Verified verify(const solvers::GlobalSum& sum, const solvers::ResidualFunction& residual,
                solvers::ConstVector b, solvers::ConstVector x, double rtol);

}  // namespace ayatori::session
