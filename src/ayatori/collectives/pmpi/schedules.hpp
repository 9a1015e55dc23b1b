#pragma once

#include <cstdint>
#include <optional>

#include "ayatori/collectives/operation.hpp"
#include "ayatori/collectives/pmpi/library.hpp"
#include "ayatori/collectives/pmpi/pending_calls.hpp"

// Collective calls of a program, carried out by schedules of a table. Every function takes the arguments of
// the call and gives its result, or nothing where the MPI's own has to do it: no schedule for this number of
// ranks and size, one rank, an intercommunicator, nothing to move, too much to count, an operation that the
// schedules cannot keep the order of, arguments that are wrong. What decides is the same on all ranks.

namespace ayatori::pmpi {

/// Collective over MPI_COMM_WORLD: rank 0 reads the tables (see collectives::read_schedules), all get them. A
/// table that does not fit is ignored, with one line from rank 0.
collectives::ScheduleTable read_table(const std::string& paths);
/// The same table on all ranks.
void begin_schedules(collectives::ScheduleTable table);
/// Collective over MPI_COMM_WORLD: with Settings::reports, rank 0 says how many calls were done.
void end_schedules();
/// A persistent call that goes by schedules is started.
void count_start(collectives::Operation operation);

void count_neighbour_call();
void count_neighbour_call_done();

/// Collective over a communicator with these facts: its schedules, though the table has none for this many
/// ranks; null where this library cannot send between its ranks. Throws MpiError.
CommSchedules* schedules_without_table(MPI_Comm comm, CommFacts& facts);

/// Counts or displacements of a call: of int, or those of functions whose names end in _c.
class Numbers {
 public:
  template <class N>
  Numbers(const N* data) : data_(data), is_int_(sizeof(N) == sizeof(int)) {
    static_assert(sizeof(N) == sizeof(int) || sizeof(N) == sizeof(std::int64_t));
  }

  MPI_Count operator[](int i) const {
    return is_int_ ? static_cast<const int*>(data_)[i] : static_cast<const std::int64_t*>(data_)[i];
  }

 private:
  const void* data_;
  bool is_int_;
};

namespace by_schedule {

using Result = std::optional<int>;

Result barrier(MPI_Comm comm, const Way& way = {});
Result broadcast(void* data, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                 const Way& way = {});
Result reduce(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
              MPI_Comm comm, const Way& way = {});
Result allreduce(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm, const Way& way = {});
Result reduce_scatter_block(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm, const Way& way = {});
Result reduce_scatter(const void* send, void* receive, Numbers counts, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, const Way& way = {});
Result gather(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive, MPI_Count count,
              MPI_Datatype type, int root, MPI_Comm comm, const Way& way = {});
Result scatter(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive, MPI_Count count,
               MPI_Datatype type, int root, MPI_Comm comm, const Way& way = {});
Result allgather(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
                 MPI_Count count, MPI_Datatype type, MPI_Comm comm, const Way& way = {});
Result allgatherv(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
                  Numbers counts, Numbers places, MPI_Datatype type, MPI_Comm comm, const Way& way = {});
Result alltoall(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
                MPI_Count count, MPI_Datatype type, MPI_Comm comm, const Way& way = {});
// By pairs of ranks, see pair_exchange.hpp.
Result gatherv(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive, Numbers counts,
               Numbers places, MPI_Datatype type, int root, MPI_Comm comm);
Result scatterv(const void* send, Numbers counts, Numbers places, MPI_Datatype type, void* receive,
                MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm);
Result alltoallv(const void* send, Numbers send_counts, Numbers send_places, MPI_Datatype send_type,
                 void* receive, Numbers counts, Numbers places, MPI_Datatype type, MPI_Comm comm);

}  // namespace by_schedule
}  // namespace ayatori::pmpi
