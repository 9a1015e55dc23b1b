#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ayatori/collectives/search/search.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/machine/model/estimate.hpp"
#include "bench/collectives/block_race.hpp"
#include "bench/collectives/collectives.hpp"

namespace ayatori::bench {

struct TuneOptions {
  collectives::SearchOptions search;
  int raced = 3;          ///< finalists of every size that are timed
  double seconds = 60;    ///< for all operations and sizes together; see CollectiveOptions
  double at_most = 0.97;  ///< what is kept takes at most this part of what it replaces, twice
  /// The MPI's algorithms are raced, too, and will be used (by rules, see mpi_rules.hpp): schedules have to
  /// beat them as well.
  bool rules = false;
};

/// A guideline (see guidelines.hpp, or that no longer buffer takes less) that what is best known does not
/// keep.
struct Violation {
  std::string guideline;
  double factor;  ///< by which it takes longer than the guideline allows
};

/// What is best for one size in this job.
struct TunedSize {
  std::int64_t bytes = 0;  ///< length of the buffer, of all blocks where the operation is by rank
  std::optional<collectives::WordPlan> plan;  ///< none: the MPI's own
  machine::Estimate mpi;                      ///< seconds to the slowest rank, of what the MPI does by itself
  machine::Estimate ours;  ///< seconds of the schedule that was confirmed, or else of the best raced
  std::optional<ForcedTiming> forced;  ///< the MPI's algorithm that is better than its own choice
  std::optional<BlockTimes> blocks;    ///< times of its vector call, where that was raced
  bool blocks_by_memory = false;       ///< which has won that
  int left_out = 0;                    ///< algorithms of the MPI that there was no time to try or to race
  std::vector<Violation> violations;

  /// Seconds of the MPI in a job that goes by its rules.
  double mpi_seconds() const { return forced ? forced->seconds.median : mpi.median; }
  double seconds() const { return plan ? ours.median : mpi_seconds(); }
};

struct TunedOperation {
  collectives::Operation operation;
  std::vector<TunedSize> sizes;
};

/// Collective. Whether schedules may have messages inside some node copied once (see comm::NodeChannel).
bool can_copy_once(const comm::Comm& comm);

/// Collective. Searches schedules by the profile, races the best few of every size, with single copies and
/// without where those are possible, against the MPI's own operation; then, where a guideline is violated,
/// schedules that do what its other side does; and those that win once more: what is kept has won twice, so
/// that the luck of one race keeps none. Where the schedule of a longer buffer takes less than that of a
/// shorter one, it serves the shorter one, too: times grow with sizes. Sizes of less than a double a rank are
/// left out where every rank has a block. The same on all ranks. Throws InputError where there is one rank
/// only or the profile does not know all, and what time_collectives() throws, agreed. Where all ranks are on
/// one node, vector calls are raced as well, as libayatori_pmpi.so does them.
std::vector<TunedOperation> tune_collectives(const comm::Comm& comm, const machine::Profile& profile,
                                             std::span<const collectives::Operation> operations,
                                             std::span<const std::int64_t> sizes, const TuneOptions& options);

}  // namespace ayatori::bench
