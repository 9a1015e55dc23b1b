#pragma once

#include <string>

#include "ayatori/forecast/pattern.hpp"
#include "ayatori/mapping/graph/traffic.hpp"

namespace ayatori::session {

/// Who would send what to whom in a halo exchange, if a matrix (a file or a generator's spec) were spread
/// over this many ranks. `partition`: "rows" (blocks of as many rows each, in their order) or "graph"
/// (METIS). Generated matrices are asked for their rows one by one and never held, but for the pattern that
/// METIS wants. Not collective. Throws InputError.
mapping::Traffic matrix_traffic(const std::string& source, const std::string& partition, int ranks);

/// The same of a square matrix whose pattern is there.
mapping::Traffic matrix_traffic(const forecast::Pattern& pattern, const std::string& partition, int ranks);

/// A graph file: METIS's format if its name ends in .graph or .metis, else a square matrix file whose entry
/// (i, j) is the number of bytes that rank i sends to rank j in one message, counted from 1. Not collective.
/// Throws InputError.
mapping::Traffic graph_traffic(const std::string& path);

/// The graph as graph_traffic() reads it: a matrix file's content.
std::string matrix_market(const mapping::CommGraph& graph);

}  // namespace ayatori::session
