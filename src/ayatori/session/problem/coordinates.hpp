#pragma once

#include <string>

#include "ayatori/base/array.hpp"
#include "ayatori/session/problem/problem.hpp"

namespace ayatori::session {

/// Collective. What --coordinates names: a file of a matrix with one row per node, of two or three columns,
/// x, y and z. Gives those of the node of each of this rank's rows, [3 * row + axis], in the solver's
/// numbering; a node has as many consecutive rows of the matrix as there are rows per node. Throws
/// InputError, agreed.
Array<double> load_coordinates(const comm::Comm& comm, const std::string& path, const Problem& problem);

}  // namespace ayatori::session
