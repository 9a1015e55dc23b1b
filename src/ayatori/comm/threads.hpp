#pragma once

#include <cstdint>
#include <string>

#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {

/// Collective. Threads that each rank should use so that all cores of its node are used once: the cores that
/// this process may run on, divided by the ranks of the node that may run on the same ones. Follows the
/// affinity that mpirun, srun or taskset have set, and the processor time that control groups grant.
int threads_per_rank(const Comm& comm);

/// Collective. The processing units that the ranks of this rank's node may use together: those that any of
/// them may run on, and no more than the control groups of the ranks grant (in whole ones, at least one).
int usable_processing_units(const Comm& comm);

/// Lets the calling thread run on all places of OpenMP's, where that has bound it to one. A program that this
/// thread starts in its stead then has them all, too.
void unbind_calling_thread();

/// What a job asks of a node.
struct NodeLoad {
  int ranks = 0;
  std::int64_t threads = 0;  ///< threads of all its ranks
  int processing_units = 0;  ///< see usable_processing_units()

  bool is_oversubscribed() const { return threads > processing_units; }
  /// "2 ranks with 2 threads on 1 processing unit"
  std::string words() const;
};

/// Collective. The node that has most threads for each of its processing units, with the threads that
/// parallel regions get now.
NodeLoad busiest_node(const Comm& comm);

/// Collective. Makes parallel regions use `threads` threads, or, where that is 0, what OMP_NUM_THREADS says,
/// or else threads_per_rank(). Returns the number on this rank. Throws InputError (agreed) for more than 1024
/// threads that are also more than four per core.
int set_threads(const Comm& comm, int threads);

}  // namespace ayatori::comm
