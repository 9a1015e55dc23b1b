#include "ayatori/comm/threads.hpp"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <bitset>
#include <cstdlib>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::comm {

namespace {

struct CoreSet {
  std::bitset<CPU_SETSIZE> cores;
};

/// Where OpenMP binds threads to places, the calling one is bound already: all places together are the cores
/// of the process.
CoreSet cores_of_places() {
  CoreSet result;
  std::vector<int> cores;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    cores.resize(omp_get_place_num_procs(place));
    omp_get_place_proc_ids(place, cores.data());
    for (const int core : cores) {
      if (core >= 0 && core < CPU_SETSIZE) result.cores[core] = true;
    }
  }
  return result;
}

CoreSet cores_of_this_process() {
  if (CoreSet places = cores_of_places(); places.cores.any()) return places;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CoreSet result;
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return result;
  for (int core = 0; core < CPU_SETSIZE; ++core) result.cores[core] = CPU_ISSET(core, &mask) != 0;
  return result;
}

}  // namespace

int threads_per_rank(const Comm& comm) {
  const CoreSet mine = cores_of_this_process();
  const Comm node = comm.split_by_node();
  const auto all = node.allgather(mine);
  const auto sharing =
      std::ranges::count_if(all, [&](const CoreSet& other) { return (other.cores & mine.cores).any(); });
  return std::max(1, static_cast<int>(mine.cores.count() / std::max<std::size_t>(sharing, 1)));
}

int set_threads(const Comm& comm, int threads) {
  const int automatic = threads_per_rank(comm);
  if (threads == 0) threads = std::getenv("OMP_NUM_THREADS") != nullptr ? omp_get_max_threads() : automatic;
  agree(comm, [&] {
    const int most = std::max(1024, 4 * omp_get_num_procs());
    if (threads <= most) return;
    throw InputError(fmt::format("{} threads per rank: this machine takes {} at most", threads, most));
  });
  omp_set_num_threads(threads);
  return threads;
}

}  // namespace ayatori::comm
