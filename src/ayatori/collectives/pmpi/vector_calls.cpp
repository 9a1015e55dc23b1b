#include "ayatori/collectives/pmpi/vector_calls.hpp"

#include <limits>
#include <optional>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/pmpi/library.hpp"
#include "ayatori/collectives/pmpi/schedules.hpp"
#include "ayatori/collectives/table.hpp"
#include "ayatori/comm/mpi/native.hpp"

namespace ayatori::pmpi {

namespace {

using collectives::Operation;

/// Blocks of all lengths through memory.
collectives::ScheduleTable table_of_blocks(int ranks) {
  collectives::ScheduleTable table;
  for (const Operation operation : {Operation::gather, Operation::scatter, Operation::alltoall})
    table.add(operation, ranks,
              {.bytes = std::numeric_limits<int>::max(), .plan = {}, .blocks_by_memory = true});
  return table;
}

void check_call(int code) {
  if (code != MPI_SUCCESS) throw EnvironmentError("a vector call of the MPI has failed");
}

}  // namespace

VectorCalls::VectorCalls(const comm::Comm& comm) : comm_(comm.duplicate()) {
  begin({}, table_of_blocks(comm.size()));
}

VectorCalls::~VectorCalls() {
  forget(comm_.handle().comm);
  end();
}

bool VectorCalls::knows(Operation operation) {
  return operation == Operation::gather || operation == Operation::scatter ||
         operation == Operation::alltoall;
}

void VectorCalls::set_blocks(std::int64_t block) {
  if (block == block_) return;
  block_ = block;
  counts_.assign(comm_.size(), static_cast<int>(block));
  places_.clear();
  for (int rank = 0; rank < comm_.size(); ++rank) places_.push_back(static_cast<int>(rank * block));
}

bool VectorCalls::by_memory(Operation operation, const std::byte* send, std::byte* receive,
                            std::int64_t block) {
  set_blocks(block);
  const MPI_Comm comm = comm_.handle().comm;
  const int* const counts = counts_.data();
  const int* const places = places_.data();
  by_schedule::Result result;
  if (operation == Operation::gather)
    result = by_schedule::gatherv(send, block, MPI_BYTE, receive, counts, places, MPI_BYTE, 0, comm);
  else if (operation == Operation::scatter)
    result = by_schedule::scatterv(send, counts, places, MPI_BYTE, receive, block, MPI_BYTE, 0, comm);
  else
    result = by_schedule::alltoallv(send, counts, places, MPI_BYTE, receive, counts, places, MPI_BYTE, comm);
  if (result) check_call(*result);
  return result.has_value();
}

void VectorCalls::by_mpi(Operation operation, const std::byte* send, std::byte* receive, std::int64_t block) {
  set_blocks(block);
  const MPI_Comm comm = comm_.handle().comm;
  const int* const counts = counts_.data();
  const int* const places = places_.data();
  const auto own = static_cast<int>(block);
  if (operation == Operation::gather)
    check_call(PMPI_Gatherv(send, own, MPI_BYTE, receive, counts, places, MPI_BYTE, 0, comm));
  else if (operation == Operation::scatter)
    check_call(PMPI_Scatterv(send, counts, places, MPI_BYTE, receive, own, MPI_BYTE, 0, comm));
  else
    check_call(PMPI_Alltoallv(send, counts, places, MPI_BYTE, receive, counts, places, MPI_BYTE, comm));
}

}  // namespace ayatori::pmpi
