#pragma once

// The C++ bindings that MPI-3 removed stay out, with the library that they would need.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <memory>
#include <string>
#include <vector>

// libayatori_pmpi.so stands between a program and its MPI. This folder calls MPI by its PMPI names alone:
// what it does itself is neither recorded nor replaced.

namespace ayatori::collectives {
class ScheduleTable;
}

namespace ayatori::pmpi {

class CommSchedules;
struct NeighbourCalls;
class PendingSchedules;
struct MemberCalls;

/// What this library keeps with a communicator, as an attribute of it; freed with it.
struct CommFacts {
  std::vector<int> world_ranks;  ///< ranks whom point-to-point calls name; MPI_UNDEFINED: not in our world
  bool is_intra = false;         ///< not between two groups
  bool is_in_world = false;      ///< all of its members are
  int rank = 0;
  std::shared_ptr<CommSchedules> schedules;  ///< schedules of communicators that have some
  bool has_asked_for_schedules = false;
  std::shared_ptr<PendingSchedules> pending;   ///< likewise, of calls that do not block
  std::shared_ptr<NeighbourCalls> neighbours;  ///< likewise, of those among neighbours
  bool has_asked_for_neighbours = false;
  int neighbour_calls = 0;       ///< until then
  MemberCalls* calls = nullptr;  ///< collective calls of these members; of the tracer
};

/// What the environment asks for, the same on all ranks: what rank 0 of MPI_COMM_WORLD has found.
struct Settings {
  std::string trace;       ///< AYATORI_TRACE: the file to write; empty: nothing is recorded
  std::string neighbours;  ///< AYATORI_NEIGHBOURS: see neighbour_rule()
  bool reports = false;    ///< AYATORI_COLLECTIVES_REPORT: says at the end how many calls schedules have done
};

/// Whether MPI runs and this library with it: between begin() and end().
bool is_active();
bool is_tracing();
const Settings& settings();
/// Size of MPI_COMM_WORLD, and this process' rank there.
int world_size();
int world_rank();
/// Open MPI looks at fewer arguments than other MPIs. Asked of the library, since the ABI of MPI 5 has many.
bool is_open_mpi();

/// Collective over MPI_COMM_WORLD: what its rank 0 has.
std::string from_first_rank(std::string text);

/// The facts of a communicator that is not MPI_COMM_NULL.
CommFacts& facts_of(MPI_Comm comm);

/// Collective over MPI_COMM_WORLD, once MPI has begun: reads the environment, and the table of schedules.
void begin();
/// Likewise, with what is given.
void begin(Settings settings, collectives::ScheduleTable table);
/// Collective over the communicator: what this library keeps with it goes.
void forget(MPI_Comm comm);
/// Collective over MPI_COMM_WORLD, before MPI ends: writes what was recorded.
void end();

/// One line on stderr, "ayatori: ...".
void say(const std::string& text);

}  // namespace ayatori::pmpi
