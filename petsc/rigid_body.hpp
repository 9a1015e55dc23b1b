#pragma once

#include <vector>

#include "ayatori/comm/comm.hpp"

namespace ayatori::petsc {

/// Collective. x about the centre of all nodes, `dimension` values for each own one, by the rigid body modes
/// of the body, as many values, in any basis. It is in some unit, and may be mirrored at the centre, which
/// leaves the modes the same. False where they are no such modes, or do not tell it, as those of a straight
/// body.
bool recover_coordinates(const comm::Comm& comm, int dimension, std::vector<std::vector<double>> modes,
                         std::vector<double>& x);

}  // namespace ayatori::petsc
