#pragma once

#include <functional>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::tuning {

/// How many of the threads that a rank may use make an iteration fastest: more threads share the work, but
/// every parallel region costs a start and a barrier, which a short iteration cannot pay.
struct ThreadRace {
  struct Entry {
    int threads;
    double seconds;  ///< time of an iteration on the slowest rank, the least of some
  };
  int offered = 1;             ///< threads of this rank
  int threads = 1;             ///< how many of these are to be used
  std::vector<Entry> entries;  ///< all, half and one; empty where regions cost next to nothing
  double seconds = 0;          ///< that the race itself took
};

/// What a race measures, on this rank.
struct ThreadTimes {
  std::function<double(int threads)> iteration;  ///< seconds
  std::function<double(int threads)> region;     ///< seconds of a parallel region with nothing in it
};

/// Collective. Races all, half and one of the `offered` threads if the regions of an iteration may cost more
/// of it than tuning may; of those as fast as the fastest, the fewest win. All ranks use the same share.
ThreadRace race_threads(const comm::Comm& comm, int offered, const ThreadTimes& times);

/// Collective. The same for what a step of CG does on this rank's part, with the threads that parallel
/// regions get now; from here on they get as many as have won.
ThreadRace race_threads(const comm::Comm& comm, const sparse::SplitMatrix& parts);

}  // namespace ayatori::tuning
