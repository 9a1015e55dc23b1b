#pragma once

#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {

/// Collective. Threads that each rank should use so that all cores of its node are used once: the cores that
/// this process may run on, divided by the ranks of the node that may run on the same ones. Follows the
/// affinity that mpirun, srun or taskset have set.
int threads_per_rank(const Comm& comm);

/// Collective. Makes parallel regions use `threads` threads, or, where that is 0, what OMP_NUM_THREADS says,
/// or else threads_per_rank(). Returns the number on this rank. Throws InputError (agreed) for more than 1024
/// threads that are also more than four per core.
int set_threads(const Comm& comm, int threads);

}  // namespace ayatori::comm
