#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/machine/probes/memory_kernels.hpp"
#include "ayatori/machine/probes/probes.hpp"

namespace ayatori::machine {

namespace {

/// Without a cache to go by, and at most, this many bytes are beyond all caches.
constexpr std::int64_t beyond_caches = 256 << 20;

/// Half of every cache's share, and four times the last cache.
std::vector<std::int64_t> working_sets(const Node& node, int ranks_on_node) {
  std::vector<std::int64_t> sizes;
  std::int64_t last = 0;
  for (const Cache& cache : node.caches) {
    const auto sharers = std::clamp(ranks_on_node, 1, std::max(cache.sharers, 1));
    sizes.push_back(cache.bytes / sharers / 2);
    last = cache.bytes / sharers;
  }
  sizes.push_back(last == 0 ? beyond_caches : std::clamp(4 * last, beyond_caches / 4, beyond_caches));
  return sizes;
}

struct Case {
  const MemoryKernel* kernel;
  int threads;
  std::int64_t bytes;
  bool touched_by_one = false;

  std::int64_t elements() const {
    return std::max<std::int64_t>(bytes / (std::int64_t{8} * kernel->vectors), std::int64_t{64} * threads);
  }
};

/// By the clock of the node.
struct Span {
  double start;
  double end;
};

/// Collective over the ranks of a node. Seconds from the first rank's start to the last one's end: where
/// ranks take turns on a processing unit, each alone would seem to have it for itself.
double seconds_together(const comm::Comm& node, const Span& mine) {
  double ends[2] = {-mine.start, mine.end};
  node.allreduce(std::span<double>(ends), comm::ReduceOp::max);
  return ends[0] + ends[1];
}

/// When `repetitions` of the loop begin and end: the first thread's start and the last one's end.
Span run(const Case& c, int repetitions, const MemoryVectors& vectors, double& sink) {
  double start = 0;
  double end = 0;
  double sum = 0;
#pragma omp parallel num_threads(c.threads) reduction(+ : sum)
  {
    const Range range = split_evenly(c.elements(), omp_get_num_threads(), omp_get_thread_num());
#pragma omp barrier
#pragma omp master
    start = wall_time();
    for (int k = 0; k < repetitions; ++k) sum += c.kernel->run(vectors, range);
#pragma omp barrier
#pragma omp master
    end = wall_time();
  }
  sink += sum;
  return {start, end};
}

}  // namespace

std::vector<MemoryFigure> probe_memory(const ProbeContext& context, const Profile& profile) {
  const auto& comm = context.comm;
  const comm::Comm on_node = comm.split_by_node();
  const int ranks_on_node = on_node.size();
  std::vector<Case> cases;
  for (const std::int64_t bytes : working_sets(profile.node, ranks_on_node)) {
    for (const int threads : thread_counts(max_threads())) {
      for (const MemoryKernel& kernel : memory_kernels()) {
        const bool essential = kernel.name == "triad" || kernel.name == "read";
        if (!context.quick || essential) cases.push_back({&kernel, threads, bytes});
      }
    }
  }
  std::int64_t of_all = 0;   // elements that every kernel uses
  std::int64_t of_more = 0;  // elements of the second and third vector
  for (const Case& c : cases) {
    of_all = std::max(of_all, c.elements());
    if (c.kernel->vectors > 1) of_more = std::max(of_more, c.elements());
  }
  // Where the memory lies matters: who writes a page first has it nearby. Most write what they use later;
  // to see what that is worth, a triad also works on vectors that one thread has written.
  const Case ill_placed{&*std::ranges::find(memory_kernels(), "triad", &MemoryKernel::name), max_threads(),
                        beyond_caches / 4, true};
  const bool shows_placement = !context.quick && max_threads() > 1;
  if (shows_placement) cases.push_back(ill_placed);
  using Vectors = std::array<Array<double>, 3>;
  const auto allocate = [&](std::int64_t first, std::int64_t others) {
    return comm::agree(comm, [&] {
      Vectors vectors;
      vectors[0].resize(first);
      vectors[1].resize(others);
      vectors[2].resize(others);
      return vectors;
    });
  };
  Vectors placed = allocate(of_all, of_more);
  for (auto& vector : placed)
    parallel_for(static_cast<std::int64_t>(vector.size()), [&](std::int64_t i) { vector[i] = 1; });
  const std::int64_t in_one_place = shows_placement ? ill_placed.elements() : 0;
  Vectors misplaced = allocate(in_one_place, in_one_place);
  for (auto& vector : misplaced) std::ranges::fill(vector, 1.0);

  double sink = 0;
  std::vector<bool> is_warm(cases.size(), false);
  const auto measure = [&](int i, int repetitions) {
    const Case& c = cases[i];
    auto& vectors = c.touched_by_one ? misplaced : placed;
    const MemoryVectors pointers{vectors[0].data(), vectors[1].data(), vectors[2].data()};
    comm.barrier();
    const Span mine = run(c, repetitions, pointers, sink);
    // The first call finds the repetitions: how long this rank waits for its turn is no part of that.
    const double seconds = is_warm[i] ? seconds_together(on_node, mine) : mine.end - mine.start;
    is_warm[i] = true;
    return comm.allreduce(seconds, comm::ReduceOp::max) / repetitions;
  };
  // Ranks that take turns are to have several of them in a sample.
  constexpr double sample_of_one_turn = 5e-4;
  constexpr double sample_of_many_turns = 2e-2;
  auto limits = context.limits();
  limits.sample_seconds =
      comm::busiest_node(comm).is_oversubscribed() ? sample_of_many_turns : sample_of_one_turn;
  limits.most_repetitions = 100000;
  const auto seconds =
      measure_in_turns(static_cast<int>(cases.size()), limits, measure, [&] { return context.clock(); });
  std::vector<MemoryFigure> figures;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const double bytes = static_cast<double>(c.elements()) * c.kernel->bytes_per_element * ranks_on_node;
    if (seconds[i].low > 0)
      figures.push_back({std::string(c.kernel->name), c.threads * ranks_on_node, c.bytes, c.touched_by_one,
                         rate_of(seconds[i], bytes)});
  }
  comm::agree(comm, [&] {
    if (!std::isfinite(sink)) throw EnvironmentError("the memory probe read other values than it wrote");
  });
  return figures;
}

}  // namespace ayatori::machine
