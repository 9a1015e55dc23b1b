#pragma once

#include <array>
#include <memory>
#include <string>

#include "ayatori/collectives/pmpi/neighbour_exchange.hpp"
#include "ayatori/collectives/pmpi/neighbour_race.hpp"
#include "ayatori/collectives/pmpi/schedules.hpp"

// Neighbourhood collectives of a program that block.

namespace ayatori::pmpi {

/// Which routes they may take.
enum class NeighbourRule { off, race, straight, bundled };

/// `text`: AYATORI_NEIGHBOURS, the same on all ranks; empty: race where there is a table of schedules. What
/// it does not know is ignored, with one line from rank 0.
NeighbourRule neighbour_rule(const std::string& text, bool has_table);
/// From now on.
void begin_neighbour_calls(NeighbourRule rule);

/// Those of one kind on one communicator.
struct NeighbourCallsOfKind {
  NeighbourExchange exchange;
  NeighbourRace race;
  NeighbourBlocks blocks = {};  ///< blocks of a call; kept for the next
};

/// Those of one communicator; of a kind from its first call on.
struct NeighbourCalls {
  CommSchedules& schedules;
  std::array<std::unique_ptr<NeighbourCallsOfKind>, neighbour_kinds> of_kind = {};
};

/// One call, from before it is tried until the MPI's own has ended, too: so both are timed.
class NeighbourTurn {
 public:
  /// Collective over `comm`, which may be anything.
  NeighbourTurn(NeighbourKind kind, MPI_Comm comm);
  /// Collective.
  ~NeighbourTurn();
  NeighbourTurn(const NeighbourTurn&) = delete;
  NeighbourTurn& operator=(const NeighbourTurn&) = delete;

  bool is_by_mpi() const { return route_ == NeighbourRoute::by_mpi; }
  /// Blocks of the program, if it is not by the MPI.
  int sources() const { return is_by_mpi() ? 0 : calls_->exchange.plan().sources; }
  int destinations() const { return is_by_mpi() ? 0 : calls_->exchange.plan().destinations; }

  /// set(blocks) tells what is sent and received, or that the arguments are wrong.
  template <class F>
  by_schedule::Result run(F&& set);

 private:
  MPI_Comm comm_;
  NeighbourCallsOfKind* calls_ = nullptr;
  NeighbourRoute route_ = NeighbourRoute::by_mpi;
  double begin_ = 0;
  by_schedule::Result failure_;  ///< failure of the set-up
};

namespace by_schedule {

Result neighbor_allgather(NeighbourTurn& turn, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                          void* receive, MPI_Count count, MPI_Datatype type);
Result neighbor_allgatherv(NeighbourTurn& turn, const void* send, MPI_Count send_count,
                           MPI_Datatype send_type, void* receive, Numbers counts, Numbers places,
                           MPI_Datatype type);
Result neighbor_alltoall(NeighbourTurn& turn, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                         void* receive, MPI_Count count, MPI_Datatype type);
Result neighbor_alltoallv(NeighbourTurn& turn, const void* send, Numbers send_counts, Numbers send_places,
                          MPI_Datatype send_type, void* receive, Numbers counts, Numbers places,
                          MPI_Datatype type);
Result neighbor_alltoallw(NeighbourTurn& turn, const void* send, Numbers send_counts,
                          const MPI_Aint* send_places, const MPI_Datatype* send_types, void* receive,
                          Numbers counts, const MPI_Aint* places, const MPI_Datatype* types);

}  // namespace by_schedule
}  // namespace ayatori::pmpi
