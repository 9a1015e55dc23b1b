#include "ayatori/machine/topology.hpp"

#include <unistd.h>

#include <array>

#include "ayatori/machine/hwloc_topology.hpp"

namespace ayatori::machine {

namespace {

/// Caches that hold data.
std::vector<Cache> find_caches(hwloc_topology_t topology) {
  constexpr std::array types{HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE};
  std::vector<Cache> caches;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, types[i], 0);
    if (cache == nullptr || cache->attr->cache.size == 0) continue;
    caches.push_back({static_cast<int>(i) + 1, static_cast<std::int64_t>(cache->attr->cache.size),
                      hwloc_bitmap_weight(cache->cpuset)});
  }
  return caches;
}

}  // namespace

std::string hostname() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

Node find_node() {
  const Topology topology = load_topology();
  const auto count = [&](hwloc_obj_type_t type) { return hwloc_get_nbobjs_by_type(topology.get(), type); };
  Node node;
  node.hostname = hostname();
  node.packages = count(HWLOC_OBJ_PACKAGE);
  node.numa_nodes = count(HWLOC_OBJ_NUMANODE);
  node.cores = count(HWLOC_OBJ_CORE);
  node.processing_units = count(HWLOC_OBJ_PU);
  node.memory_bytes = static_cast<std::int64_t>(hwloc_get_root_obj(topology.get())->total_memory);
  node.caches = find_caches(topology.get());
  if (const hwloc_obj_t package = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_PACKAGE, 0)) {
    const char* model = hwloc_obj_get_info_by_name(package, "CPUModel");
    node.processor = model == nullptr ? "" : model;
  }
  return node;
}

bool threads_are_bound() {
  const Topology topology = load_topology();
  const int units = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PU);
  int free_threads = 0;
#pragma omp parallel reduction(+ : free_threads)
  {
    const Bitmap where(hwloc_bitmap_alloc(), hwloc_bitmap_free);
    const bool is_known = hwloc_get_cpubind(topology.get(), where.get(), HWLOC_CPUBIND_THREAD) == 0;
    free_threads += is_known && hwloc_bitmap_weight(where.get()) >= units ? 1 : 0;
  }
  return units == 1 || free_threads == 0;
}

std::vector<int> find_nodes_of_ranks(const comm::Comm& comm) {
  const auto on_node = comm.split_by_node();
  const auto lowest = comm.allgather(on_node.broadcast(comm.rank(), 0));
  std::vector<int> nodes(comm.size());
  int found = 0;
  for (int rank = 0; rank < comm.size(); ++rank)
    nodes[rank] = lowest[rank] == rank ? found++ : nodes[lowest[rank]];
  return nodes;
}

}  // namespace ayatori::machine
