#include "ayatori/comm/threads.hpp"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <bitset>
#include <cstdlib>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::comm {

namespace {

struct CoreSet {
  std::bitset<CPU_SETSIZE> cores;
};

CoreSet cores_of_this_process() {
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
