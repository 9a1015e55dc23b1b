#include "ayatori/tuning/rank_race.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "ayatori/base/memory.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/tuning/probe_vectors.hpp"

namespace ayatori::tuning {

namespace {

/// Rows move only for a clear gain, so that noise does not move them.
constexpr double clearly_faster = 0.9;
constexpr int rounds = 3;
/// Copies of the matrix that a solve may hold, with factors and other formats.
constexpr double copies = 8;
/// Bytes that need not be asked for.
constexpr double always_there = 64 << 20;

/// Collective. Whether rank 0 can hold the whole matrix several times over.
bool fits_one_rank(const comm::Comm& comm, const sparse::SplitMatrix& parts) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  constexpr double bytes_of_nonzero = 12;
  const auto nonzeros = static_cast<double>(
      comm.allreduce(parts.interior.nonzeros() + parts.halo.nonzeros(), comm::ReduceOp::sum));
  const double bytes = copies * bytes_of_nonzero * nonzeros;
  if (bytes < always_there) return true;
  const auto free = static_cast<double>(comm.broadcast(available_memory(), 0));
  return parts.partition.rows() <= most && bytes < free;
}

/// Collective. The least of some rounds: products with and without an exchange, and the vector operations of
/// an iteration.
RankTimes measure(const comm::Comm& comm, const sparse::SplitMatrix& parts) {
  ProbeVectors vectors(comm, parts);
  auto& [x, y] = vectors;
  RankTimes least{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (int round = 0; round <= rounds; ++round) {
    const Stopwatch whole;
    multiply_reference(comm, parts, x, y);
    const double with_exchange = whole.seconds();
    const Stopwatch alone;
    multiply_reference(parts.interior, x, y);
    const double product = alone.seconds();
    solvers::axpy(0, y, x);
    solvers::axpy(0, y, x);
    if (round == 0) continue;  // warms caches
    least.work = std::min(least.work, alone.seconds());
    least.exchange = std::min(least.exchange, std::max(with_exchange - product, 0.0));
  }
  return least;
}

}  // namespace

RankRace race_ranks(const comm::Comm& comm, const RankTimes& mine, double coupled_rows) {
  RankRace race{.offered = comm.size(), .ranks = comm.size()};
  const double work = comm.allreduce(mine.work, comm::ReduceOp::sum);
  std::array<double, 2> longest{mine.work, mine.exchange};
  comm.allreduce(std::span<double>(longest), comm::ReduceOp::max);
  race.seconds_of_one = work;
  race.seconds_of_all = (longest[0] + longest[1]) * (1 + coupled_rows);
  if (race.seconds_of_one < clearly_faster * race.seconds_of_all) race.ranks = 1;
  return race;
}

RankRace race_ranks(const comm::Comm& comm, const sparse::SplitMatrix& parts) {
  const Stopwatch watch;
  const auto rows = parts.partition.rows();
  if (parts.partition.ranks_with_rows() <= 1 || !fits_one_rank(comm, parts)) return {.offered = comm.size(), .ranks = comm.size()};
  const auto coupled = comm.allreduce(static_cast<std::int64_t>(parts.halo_rows.size()), comm::ReduceOp::sum);
  RankRace race =
      race_ranks(comm, measure(comm, parts), static_cast<double>(coupled) / static_cast<double>(rows));
  race.seconds = watch.seconds();
  return race;
}

}  // namespace ayatori::tuning
