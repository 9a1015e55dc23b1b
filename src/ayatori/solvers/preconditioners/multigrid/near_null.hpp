#pragma once

#include "ayatori/solvers/preconditioners/multigrid/grid.hpp"

namespace ayatori::solvers::amg {

/// Collective. Where the symmetric matrix of a finest grid is far from annihilating its near null space (its
/// Rayleigh quotient is above 0.1), looks for a vector that it annihilates better, by relaxation of A v = 0
/// from a random start (the set-up stage of adaptive smoothed aggregation: Brezina, Falgout, MacLachlan,
/// Manteuffel, McCormick & Ruge 2004, with one vector), and takes it if its quotient is less than a quarter.
/// Unknowns where that vector is negative change their sign. Whether it did.
bool relax_near_null(FineGrid<1>& fine);

}  // namespace ayatori::solvers::amg
