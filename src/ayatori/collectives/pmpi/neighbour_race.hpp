#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ayatori/collectives/pmpi/library.hpp"

namespace ayatori::pmpi {

/// How a neighbourhood collective goes: as the MPI does it; every block straight to its reader; or short
/// blocks in bundles for other nodes.
enum class NeighbourRoute { by_mpi, straight, bundled };
inline constexpr int neighbour_routes = 3;

/// Which route is fastest for the calls of one kind on one communicator. No rank knows how long the blocks of
/// all are, so the first calls go by every route in turn, and then all ranks agree. Programs may come to send
/// something else: it is raced again whenever there have been eight times as many calls, which costs less and
/// less.
class NeighbourRace {
 public:
  /// The first of the routes is taken where no other is clearly faster. One route alone is not raced.
  explicit NeighbourRace(std::vector<NeighbourRoute> routes)
      : routes_(std::move(routes)), chosen_(routes_[0]) {
    forget();
  }

  /// Route of the next call.
  NeighbourRoute route() const { return is_racing() ? routes_[turn_ % routes_.size()] : chosen_; }
  /// Whether that is to be timed.
  bool is_racing() const { return routes_.size() > 1 && calls_ >= next_race_; }
  /// Collective over `comm` when a race ends. After every call: how long it took, if it was timed.
  void end_call(double seconds, MPI_Comm comm);

 private:
  static constexpr int rounds = 5;
  void forget();
  void decide(MPI_Comm comm);

  std::vector<NeighbourRoute> routes_;
  NeighbourRoute chosen_;
  std::int64_t calls_ = 0;
  std::int64_t next_race_ = 0;
  std::size_t turn_ = 0;                            ///< turn of a race
  std::array<double, neighbour_routes> seconds_{};  ///< the least so far, by number in routes_
};

}  // namespace ayatori::pmpi
