#include "ayatori/comm/threads.hpp"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <bitset>
#include <cstdlib>
#include <map>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/cpu_quota.hpp"

namespace ayatori::comm {

namespace {

struct CoreSet {
  std::bitset<CPU_SETSIZE> cores;
};

/// What a rank may use.
struct Share {
  CoreSet set;
  CpuQuota quota;
};

/// What is left of a quota in whole processors: threads that wait for each other gain nothing by a part.
int whole_processors(double quota) {
  constexpr double rounding = 1e-6;
  return std::max(1, static_cast<int>(std::min(quota, double{CPU_SETSIZE}) + rounding));
}

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
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) {
    for (int core = 0; core < std::min(omp_get_num_procs(), CPU_SETSIZE); ++core) result.cores[core] = true;
    return result;
  }
  for (int core = 0; core < CPU_SETSIZE; ++core) result.cores[core] = CPU_ISSET(core, &mask) != 0;
  return result;
}

/// Collective over the ranks of a node: the shares of all.
std::vector<Share> shares_on(const Comm& node) {
  return node.allgather(Share{cores_of_this_process(), find_cpu_quota()});
}

/// What the ranks of a node may use together.
int processing_units_of(const std::vector<Share>& shares) {
  std::bitset<CPU_SETSIZE> all;
  std::map<std::uint64_t, Share> groups;  // ranks of one control group share its quota
  for (const Share& share : shares) {
    all |= share.set.cores;
    Share& group = groups[share.quota.group];
    group.set.cores |= share.set.cores;
    group.quota = share.quota;
  }
  double by_group = 0;
  for (const auto& [number, group] : groups) {
    const auto cores = static_cast<double>(group.set.cores.count());
    by_group += group.quota.processors > 0 ? std::min(group.quota.processors, cores) : cores;
  }
  return std::min(std::max(1, static_cast<int>(all.count())), whole_processors(by_group));
}

}  // namespace

int threads_per_rank(const Comm& comm) {
  const Comm node = comm.split_by_node();
  const auto all = shares_on(node);
  const Share& mine = all[node.rank()];
  const auto sharing = std::ranges::count_if(
      all, [&](const Share& other) { return (other.set.cores & mine.set.cores).any(); });
  const int threads =
      std::max(1, static_cast<int>(mine.set.cores.count() / std::max<std::size_t>(sharing, 1)));
  if (mine.quota.processors == 0) return threads;
  const auto in_group =
      std::ranges::count_if(all, [&](const Share& other) { return other.quota.group == mine.quota.group; });
  return std::min(threads, whole_processors(mine.quota.processors / static_cast<double>(in_group)));
}

void unbind_calling_thread() {
  const CoreSet places = cores_of_places();
  if (places.cores.none()) return;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (places.cores[core]) CPU_SET(core, &mask);
  sched_setaffinity(0, sizeof(mask), &mask);
}

int usable_processing_units(const Comm& comm) {
  return processing_units_of(shares_on(comm.split_by_node()));
}

NodeLoad busiest_node(const Comm& comm) {
  const Comm node = comm.split_by_node();
  const NodeLoad here{node.size(), node.allreduce(std::int64_t{omp_get_max_threads()}, ReduceOp::sum),
                      processing_units_of(shares_on(node))};
  const auto all = comm.allgather(here);
  return *std::ranges::max_element(all, {}, [](const NodeLoad& load) {
    return static_cast<double>(load.threads) / load.processing_units;
  });
}

std::string NodeLoad::words() const {
  return fmt::format("{} rank{} with {} thread{} on {} processing unit{}", ranks, ranks == 1 ? "" : "s",
                     threads, threads == 1 ? "" : "s", processing_units, processing_units == 1 ? "" : "s");
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
