#include <omp.h>

#include <atomic>
#include <thread>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/machine/probes/probes.hpp"

namespace ayatori::machine {

namespace {

/// A barrier of flags in cache lines of their own, one per thread, which the first thread gathers and
/// releases: no lock and no atomic read-modify-write (the barrier of COMPaS). A thread that waits long
/// yields.
class FlagBarrier {
 public:
  explicit FlagBarrier(int threads) : arrived_(threads) {}

  void wait(int thread, std::uint64_t round) {
    if (thread == 0) {
      for (std::size_t other = 1; other < arrived_.size(); ++other) await(arrived_[other].round, round);
      released_.round.store(round, std::memory_order_release);
    } else {
      arrived_[thread].round.store(round, std::memory_order_release);
      await(released_.round, round);
    }
  }

 private:
  struct alignas(64) Flag {
    std::atomic<std::uint64_t> round{0};
  };

  static void await(const std::atomic<std::uint64_t>& flag, std::uint64_t round) {
    constexpr int patience = 10000;
    for (int spins = 0; flag.load(std::memory_order_acquire) < round; ++spins) {
      if (spins > patience) std::this_thread::yield();
    }
  }

  std::vector<Flag> arrived_;
  Flag released_;
};

double openmp_seconds(int threads, int in_a_row) {
  double start = 0;
  double end = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp barrier
#pragma omp master
    start = wall_time();
    for (int k = 0; k < in_a_row; ++k) {
#pragma omp barrier
    }
#pragma omp master
    end = wall_time();
  }
  return (end - start) / in_a_row;
}

double flag_seconds(int threads, int in_a_row) {
  double start = 0;
  double end = 0;
  FlagBarrier barrier(threads);
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    barrier.wait(thread, 1);
    if (thread == 0) start = wall_time();
    for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(in_a_row); ++k) barrier.wait(thread, 2 + k);
    if (thread == 0) end = wall_time();
  }
  return (end - start) / in_a_row;
}

}  // namespace

std::vector<int> thread_counts(int most) {
  std::vector<int> counts;
  for (int threads = 1; threads < most; threads *= 2) counts.push_back(threads);
  counts.push_back(most);
  return counts;
}

std::vector<BarrierFigure> probe_barriers(const ProbeContext& context) {
  std::vector<BarrierFigure> figures;
  for (const int threads : thread_counts(max_threads())) {
    if (threads == 1) continue;
    figures.push_back({"openmp", threads, {}});
    figures.push_back({"flags", threads, {}});
  }
  const auto measure = [&](int i, int repetitions) {
    const BarrierFigure& figure = figures[i];
    context.comm.barrier();
    const double seconds = figure.kind == "openmp" ? openmp_seconds(figure.threads, repetitions)
                                                   : flag_seconds(figure.threads, repetitions);
    return context.comm.allreduce(seconds, comm::ReduceOp::max);
  };
  const auto seconds = measure_in_turns(static_cast<int>(figures.size()), context.limits(), measure,
                                        [&] { return context.clock(); });
  for (std::size_t i = 0; i < figures.size(); ++i) figures[i].seconds = seconds[i];
  std::erase_if(figures, [](const BarrierFigure& figure) { return !(figure.seconds.low > 0); });
  return figures;
}

}  // namespace ayatori::machine
