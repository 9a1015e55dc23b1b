#pragma once

#include <span>
#include <string>

#include "bench/collectives/tuned_table.hpp"

namespace ayatori::bench {

/// What was learnt about the MPI's own algorithms, as Open MPI 4 reads it
/// (coll_tuned_dynamic_rules_filename): for communicators of this many ranks, by size; all else is left to
/// Open MPI. A size that was not tuned goes with the nearest, as a ratio; what is twice as long as the
/// longest, or longer, does not.
std::string open_mpi_rules(std::span<const TunedOperation> tuned, int ranks);

}  // namespace ayatori::bench
