#include <omp.h>

#include <algorithm>
#include <memory>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/machine/hwloc_topology.hpp"
#include "ayatori/machine/probes/memory_kernels.hpp"
#include "ayatori/machine/probes/probes.hpp"

namespace ayatori::machine {

namespace {

constexpr std::int64_t bytes = 64 << 20;
/// All pairs of more NUMA nodes would take too long; the first ones tell near from far.
constexpr int most_nodes = 8;

/// Memory on one NUMA node; empty where it cannot be had there.
class NumaMemory {
 public:
  NumaMemory(hwloc_topology_t topology, hwloc_const_nodeset_t node) : topology_(topology) {
    constexpr int how = HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_STRICT;
    data_ = static_cast<double*>(hwloc_alloc_membind(topology, bytes, node, HWLOC_MEMBIND_BIND, how));
    if (data_ != nullptr) std::fill_n(data_, bytes / 8, 1.0);
  }
  ~NumaMemory() {
    if (data_ != nullptr) hwloc_free(topology_, data_, bytes);
  }
  NumaMemory(const NumaMemory&) = delete;
  NumaMemory& operator=(const NumaMemory&) = delete;

  double* data() const { return data_; }

 private:
  hwloc_topology_t topology_;
  double* data_;
};

struct Case {
  hwloc_const_cpuset_t units;
  const NumaMemory* memory;
  NumaFigure figure;
};

/// Seconds of reading all of the memory with threads bound to the units, which are set free again.
double seconds_of(hwloc_topology_t topology, const Case& c, int repetitions, double& sink) {
  double start = 0;
  double end = 0;
  double sum = 0;
  const MemoryVectors vectors{c.memory->data(), nullptr, nullptr};
  const auto kernels = memory_kernels();
  const auto read = std::ranges::find(kernels, "read", &MemoryKernel::name)->run;
#pragma omp parallel num_threads(c.figure.threads) reduction(+ : sum)
  {
    const Bitmap before(hwloc_bitmap_alloc(), hwloc_bitmap_free);
    hwloc_get_cpubind(topology, before.get(), HWLOC_CPUBIND_THREAD);
    hwloc_set_cpubind(topology, c.units, HWLOC_CPUBIND_THREAD);
    const Range range = split_evenly(bytes / 8, omp_get_num_threads(), omp_get_thread_num());
#pragma omp barrier
#pragma omp master
    start = wall_time();
    for (int k = 0; k < repetitions; ++k) sum += read(vectors, range);
#pragma omp barrier
#pragma omp master
    end = wall_time();
    hwloc_set_cpubind(topology, before.get(), HWLOC_CPUBIND_THREAD);
  }
  sink += sum;
  return (end - start) / repetitions;
}

}  // namespace

std::vector<NumaFigure> probe_numa(const ProbeContext& context) {
  const auto& comm = context.comm;
  const bool reads = comm.rank() == 0;  // the others wait: what is measured is distance, not load
  const Topology topology = load_topology();
  const int nodes =
      comm.broadcast(std::min(hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE), most_nodes), 0);
  std::vector<std::unique_ptr<NumaMemory>> memories;
  std::vector<Case> cases;
  for (int m = 0; m < nodes; ++m) {
    const hwloc_obj_t node = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE, m);
    if (reads) memories.push_back(std::make_unique<NumaMemory>(topology.get(), node->nodeset));
    if (!comm.any(reads && memories.back()->data() != nullptr)) continue;
    for (int t = 0; t < nodes; ++t) {
      const hwloc_obj_t at = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE, t);
      int threads = at == nullptr ? 0 : std::min(max_threads(), hwloc_bitmap_weight(at->cpuset));
      threads = comm.broadcast(threads, 0);
      if (threads < 1) continue;  // memory without processors
      cases.push_back({at == nullptr ? nullptr : at->cpuset,
                       reads ? memories.back().get() : nullptr,
                       {t, m, threads, {}}});
    }
  }
  double sink = 0;
  const auto measure = [&](int i, int repetitions) {
    return comm.broadcast(reads ? seconds_of(topology.get(), cases[i], repetitions, sink) : 0.0, 0);
  };
  const auto seconds = measure_in_turns(static_cast<int>(cases.size()), context.limits(), measure,
                                        [&] { return context.clock(); });
  std::vector<NumaFigure> figures;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!(seconds[i].low > 0)) continue;
    cases[i].figure.bytes_per_second = rate_of(seconds[i], static_cast<double>(bytes));
    figures.push_back(cases[i].figure);
  }
  return figures;
}

}  // namespace ayatori::machine
