#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ayatori/collectives/search.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/machine/estimate.hpp"

namespace ayatori::bench {

struct TuneOptions {
  collectives::SearchOptions search;
  int raced = 3;          ///< finalists of every size that are timed
  double seconds = 60;    ///< for all operations and sizes together, about
  double at_most = 0.97;  ///< a schedule is kept if it takes at most this part of the MPI's time, twice
};

/// What is best for one size in this job.
struct TunedSize {
  std::int64_t bytes = 0;                     ///< of the buffer, of all blocks where the operation is by rank
  std::optional<collectives::WordPlan> plan;  ///< none: the MPI's own
  machine::Estimate mpi;                      ///< seconds to the slowest rank
  machine::Estimate ours;  ///< of the schedule that was confirmed, or else of the best raced
};

struct TunedOperation {
  collectives::Operation operation;
  std::vector<TunedSize> sizes;
};

/// Collective. Searches schedules by the profile, races the best few of every size against the MPI's own
/// operation, and those that win once more: a schedule that is kept has won twice, so that the luck of one
/// race keeps none. Where the schedule of a longer buffer takes less than that of a shorter one, it serves
/// the shorter one, too: times grow with sizes. Sizes of less than
/// a double a rank are left out where every rank has a block. The same on all ranks. Throws InputError where
/// there is one rank only or the profile does not know all, and what time_collectives() throws, agreed.
std::vector<TunedOperation> tune_collectives(const comm::Comm& comm, const machine::Profile& profile,
                                             std::span<const collectives::Operation> operations,
                                             std::span<const std::int64_t> sizes, const TuneOptions& options);

}  // namespace ayatori::bench
