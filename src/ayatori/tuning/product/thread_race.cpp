#include "ayatori/tuning/product/thread_race.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/tuning/judgement.hpp"
#include "ayatori/tuning/product/probe_vectors.hpp"
#include "ayatori/tuning/solve.hpp"

namespace ayatori::tuning {

namespace {

/// Parallel regions of an iteration of CG: the product, the preconditioner, and vector operations.
constexpr double regions = 4;

enum Candidate { all, half, one, candidates };

int threads_of(int candidate, int offered) {
  return candidate == all ? offered : candidate == half ? (offered + 1) / 2 : 1;
}

/// The least of two; the first after a change of threads, which starts or ends some, does not count.
double least(const std::function<double(int threads)>& seconds, int threads) {
  seconds(threads);
  const double first = seconds(threads);
  return std::min(first, seconds(threads));
}

}  // namespace

ThreadRace race_threads(const comm::Comm& comm, int offered, const ThreadTimes& times) {
  ThreadRace race{.offered = offered, .threads = offered, .entries = {}};
  const int most = comm.allreduce(offered, comm::ReduceOp::max);
  if (most == 1) return race;
  const double overhead = regions * comm.allreduce(least(times.region, offered), comm::ReduceOp::max);
  std::array<double, candidates> seconds{};
  seconds.fill(std::numeric_limits<double>::infinity());
  seconds[all] = least(times.iteration, offered);
  if (overhead <= SolveOptions().tuning_share * comm.allreduce(seconds[all], comm::ReduceOp::max))
    return race;

  const bool half_is_one = most == 2;
  for (int round = 0; round < race_rounds; ++round) {
    for (int turn = 0; turn < candidates; ++turn) {
      const int candidate = round % 2 == 0 ? candidates - 1 - turn : turn;
      if (candidate == half && half_is_one) continue;
      seconds[candidate] =
          std::min(seconds[candidate], least(times.iteration, threads_of(candidate, offered)));
    }
  }
  if (half_is_one) seconds[half] = seconds[one];
  comm.allreduce(std::span<double>(seconds), comm::ReduceOp::max);
  const double best = *std::ranges::min_element(seconds);
  int winner = all;
  for (int candidate = all; candidate < candidates; ++candidate) {
    if (candidate != half || !half_is_one)
      race.entries.push_back({threads_of(candidate, offered), seconds[candidate]});
    if (clearly_faster * seconds[candidate] <= best) winner = candidate;
  }
  race.threads = threads_of(winner, offered);
  return race;
}

ThreadRace race_threads(const comm::Comm& comm, const sparse::SplitMatrix& parts) {
  ProbeVectors vectors(comm, parts);
  Array<double>& x = vectors.x;
  Array<double>& y = vectors.y;
  double kept = 0;  // so that nothing is left out
  const auto iteration = [&](int threads) {
    omp_set_num_threads(threads);
    const Stopwatch watch;
    multiply_reference(parts.interior, x, y);
    kept += solvers::local_dot(x, y);
    solvers::axpy(0, y, x);
    kept += solvers::axpy_square(0, y, x);
    return watch.seconds();
  };
  const auto region = [&](int threads) {
    const Stopwatch watch;
    std::atomic<int> woken = 0;  // an empty region would be left out
#pragma omp parallel num_threads(threads)
    woken.fetch_add(1, std::memory_order_relaxed);
    return woken.load() > 0 ? watch.seconds() : 0.0;
  };
  const Stopwatch watch;
  ThreadRace race = race_threads(comm, max_threads(), {iteration, region});
  omp_set_num_threads(race.threads);
  race.seconds = watch.seconds();
  return race;
}

}  // namespace ayatori::tuning
