#include "ayatori/tuning/product/rank_race.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "ayatori/base/memory.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/tuning/product/probe_vectors.hpp"

namespace ayatori::tuning {

namespace {

/// Rows move only for a clear gain, so that noise does not move them.
constexpr double clearly_faster = 0.95;
constexpr int rounds = 3;
/// So many times as long is no question of another round.
constexpr double beyond_doubt = 1.5;
/// Copies of the matrix that a solve may hold, with factors and other formats.
constexpr double copies = 8;
/// Bytes that need not be asked for.
constexpr double always_there = 64 << 20;

/// Moving the rows takes as long as so many iterations on the one rank.
constexpr double iterations_of_moving = 30;
/// Iterations of preconditioners of blocks grow by this share where their ranks share hardly a row, more
/// where the matrix is not symmetric, and most where few rows are those of diffusion or some are long.
constexpr double growth_of_any_blocks = 0.5;
constexpr double growth_without_symmetry = 1;
constexpr double growth_without_diffusion = 2;
/// What leaves the caches of the cores takes so many times as long.
constexpr double out_of_cache = 2;

double bytes_of(double nonzeros) {
  constexpr double bytes_of_nonzero = 12;
  return bytes_of_nonzero * nonzeros;
}

/// Collective. Whether rank 0 can hold the whole matrix several times over.
bool fits_one_rank(const comm::Comm& comm, const MatrixFacts& facts) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (facts.rows > most) return false;
  const double bytes = copies * bytes_of(static_cast<double>(facts.nonzeros));
  if (bytes < always_there) return true;
  const auto free = static_cast<double>(comm.broadcast(available_memory(), 0));
  return bytes < free;
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

/// Collective. The decision by the least times of some rounds, or as soon as there is no doubt.
RankRace race_ranks(const comm::Comm& comm, Iteration& iteration, double slower_on_one,
                    const RankOutlook& outlook) {
  constexpr double none = std::numeric_limits<double>::infinity();
  RankTimes least{none, none, slower_on_one};
  RankRace race;
  iteration.run();  // warms caches
  for (int round = 0; round < rounds; ++round) {
    const RankTimes times = iteration.run();
    least.work = std::min(least.work, times.work);
    least.exchange = std::min(least.exchange, times.exchange);
    race = race_ranks(comm, least, outlook);
    const auto [faster, slower] = std::minmax(race.seconds_of_one, race.seconds_of_all);
    if (slower > beyond_doubt * faster) break;
  }
  return race;
}

/// Whether what a preconditioner does depends on which rows share a rank.
bool works_by_blocks(const Choice& choice) {
  return !uses_diagonal_at_most(choice) && choice.preconditioner != "amg" && !uses_complete_factors(choice);
}

double growth_of_blocks(const MatrixFacts& facts) {
  constexpr double few = 0.75;  // as a share
  if (facts.diffusive_rows < few || has_long_rows(facts)) return growth_without_diffusion;
  return facts.symmetric ? growth_of_any_blocks : growth_without_symmetry;
}

}  // namespace

RankOutlook foresee(const comm::Comm& comm, const sparse::SplitMatrix& parts, const MatrixFacts& facts,
                    const Choice& first) {
  RankOutlook outlook;
  outlook.iterations = std::min(outlook.iterations, iterations_by_dominance(facts));
  const auto coupled = comm.allreduce(static_cast<std::int64_t>(parts.halo_rows.size()), comm::ReduceOp::sum);
  if (works_by_blocks(first))
    outlook.growth = growth_of_blocks(facts) + static_cast<double>(coupled) / static_cast<double>(facts.rows);
  return outlook;
}

RankRace race_ranks(const comm::Comm& comm, const RankTimes& mine, const RankOutlook& outlook) {
  RankRace race{.offered = comm.size(), .ranks = comm.size()};
  const double work = comm.allreduce(mine.work * mine.slower_on_one, comm::ReduceOp::sum);
  std::array<double, 2> longest{mine.work, mine.exchange};
  comm.allreduce(std::span<double>(longest), comm::ReduceOp::max);
  race.seconds_of_one = work * (1 + iterations_of_moving / outlook.iterations);
  race.seconds_of_all = (longest[0] + longest[1]) * (1 + outlook.growth);
  if (race.seconds_of_one < clearly_faster * race.seconds_of_all) race.ranks = 1;
  return race;
}

RankRace race_ranks(const comm::Comm& comm, const sparse::SplitMatrix& parts, const MatrixFacts& facts,
                    const Choice& first) {
  const Stopwatch watch;
  if (parts.partition.ranks_with_rows() <= 1 || !fits_one_rank(comm, facts))
    return {.offered = comm.size(), .ranks = comm.size()};
  const auto cache = static_cast<double>(comm.broadcast(cache_of_core(), 0));
  const auto own = static_cast<double>(parts.interior.nonzeros() + parts.halo.nonzeros());
  const bool leaves_cache = bytes_of(own) <= cache && bytes_of(static_cast<double>(facts.nonzeros)) > cache;
  Iteration iteration(comm, parts);
  RankRace race =
      race_ranks(comm, iteration, leaves_cache ? out_of_cache : 1, foresee(comm, parts, facts, first));
  race.seconds = watch.seconds();
  return race;
}

}  // namespace ayatori::tuning
