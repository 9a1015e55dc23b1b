#include "ayatori/collectives/pmpi/neighbour_race.hpp"

#include <algorithm>
#include <limits>

namespace ayatori::pmpi {

namespace {

/// Share of the first route's time above which another is no better: what differs less may be chance.
constexpr double margin = 0.95;

constexpr int calls_between_races = 8;  ///< times those before

}  // namespace

void NeighbourRace::end_call(double seconds, MPI_Comm comm) {
  const bool was_timed = is_racing();
  ++calls_;
  if (!was_timed) return;
  double& least = seconds_[turn_ % routes_.size()];
  least = std::min(least, seconds);
  if (++turn_ == rounds * routes_.size()) decide(comm);
}

void NeighbourRace::forget() {
  turn_ = 0;
  seconds_.fill(std::numeric_limits<double>::max());
}

/// The slowest rank counts.
void NeighbourRace::decide(MPI_Comm comm) {
  const auto number = static_cast<std::ptrdiff_t>(routes_.size());
  PMPI_Allreduce(MPI_IN_PLACE, seconds_.data(), static_cast<int>(number), MPI_DOUBLE, MPI_MAX, comm);
  const auto best = std::min_element(seconds_.begin() + 1, seconds_.begin() + number);
  chosen_ = *best < margin * seconds_[0] ? routes_[best - seconds_.begin()] : routes_[0];
  next_race_ = calls_between_races * calls_;
  forget();
}

}  // namespace ayatori::pmpi
