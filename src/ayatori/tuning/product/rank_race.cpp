#include "ayatori/tuning/product/rank_race.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "ayatori/base/memory.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/tuning/judgement.hpp"
#include "ayatori/tuning/product/probe_vectors.hpp"

namespace ayatori::tuning {

namespace {

double bytes_of(double nonzeros) {
  constexpr double bytes_of_nonzero = 12;
  return bytes_of_nonzero * nonzeros;
}

/// Collective. Whether rank 0 can hold the whole matrix, with factors and other formats.
bool fits_one_rank(const comm::Comm& comm, const MatrixFacts& facts) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (facts.rows > most) return false;
  const auto free = static_cast<double>(comm.broadcast(available_memory(), 0));
  return bytes_of(static_cast<double>(facts.nonzeros)) < share_of_memory * free;
}

/// An iteration as far as the race goes: a product with and without an exchange, and vector operations.
class Iteration {
 public:
  /// Collective.
  Iteration(const comm::Comm& comm, const sparse::SplitMatrix& parts)
      : parts_(parts),
        vectors_(comm, parts),
        exchange_(sparse::halo_strategies().front().make(comm, parts.partition, parts.plan)) {}

  /// Collective. The times of one.
  RankTimes run() {
    auto& [x, y] = vectors_;
    RankTimes times;
    const Stopwatch messages;
    exchange_->begin(x);
    exchange_->finish();
    times.exchange = messages.seconds();
    const Stopwatch work;
    multiply_reference(parts_.interior, x, y);
    solvers::axpy(0, y, x);
    solvers::axpy(0, y, x);
    times.work = work.seconds();
    return times;
  }

 private:
  const sparse::SplitMatrix& parts_;
  ProbeVectors vectors_;
  std::unique_ptr<sparse::HaloExchange> exchange_;
};

/// Collective. The least times of some rounds.
RankTimes least_times(Iteration& iteration) {
  iteration.run();  // warms caches
  RankTimes least = iteration.run();
  for (int round = 1; round < race_rounds; ++round) {
    const RankTimes times = iteration.run();
    least.work = std::min(least.work, times.work);
    least.exchange = std::min(least.exchange, times.exchange);
  }
  return least;
}

/// Whether what a preconditioner does depends on which rows share a rank.
bool works_by_blocks(const Choice& choice) {
  return !uses_diagonal_at_most(choice) && choice.preconditioner != "amg" && !uses_complete_factors(choice);
}

}  // namespace

RankOutlook foresee(const comm::Comm& comm, const sparse::SplitMatrix& parts, const MatrixFacts& facts,
                    const ListedArm& first) {
  RankOutlook outlook{.iterations = first.expected};
  const auto coupled = comm.allreduce(static_cast<std::int64_t>(parts.halo_rows.size()), comm::ReduceOp::sum);
  if (works_by_blocks(first.choice))
    outlook.growth = static_cast<double>(coupled) / static_cast<double>(facts.rows);
  return outlook;
}

RankRace race_ranks(const comm::Comm& comm, const RankTimes& mine, const RankOutlook& outlook) {
  RankRace race{.offered = comm.size(), .ranks = comm.size()};
  const double work = comm.allreduce(mine.work, comm::ReduceOp::sum);
  std::array<double, 2> longest{mine.work, mine.exchange};
  comm.allreduce(std::span<double>(longest), comm::ReduceOp::max);
  race.seconds_of_one = work * (1 + laying_out / outlook.iterations);
  race.seconds_of_all = (longest[0] + longest[1]) * (1 + outlook.growth);
  if (race.seconds_of_one < clearly_faster * race.seconds_of_all) race.ranks = 1;
  return race;
}

RankRace race_ranks(const comm::Comm& comm, const sparse::SplitMatrix& parts, const MatrixFacts& facts,
                    const ListedArm& first) {
  const Stopwatch watch;
  const auto cache = static_cast<double>(comm.broadcast(cache_of_core(), 0));
  const auto own = static_cast<double>(parts.interior.nonzeros() + parts.halo.nonzeros());
  const bool leaves_caches =
      bytes_of(static_cast<double>(facts.nonzeros)) > cache && !comm.any(bytes_of(own) > cache);
  if (parts.partition.ranks_with_rows() <= 1 || leaves_caches || !fits_one_rank(comm, facts))
    return {.offered = comm.size(), .ranks = comm.size()};
  Iteration iteration(comm, parts);
  RankRace race = race_ranks(comm, least_times(iteration), foresee(comm, parts, facts, first));
  race.seconds = watch.seconds();
  return race;
}

}  // namespace ayatori::tuning
