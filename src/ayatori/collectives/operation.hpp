#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ayatori::collectives {

enum class Operation {
  broadcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  reduce_scatter,
  alltoall,
  barrier
};

struct OperationType {
  Operation operation;
  std::string_view name;
  std::string_view mpi_name;  ///< without "MPI_", in lower case: what people type
  bool has_words;  ///< algorithms are Hybrid2 words; of the others there is one for each order of digits
  bool has_root;
  bool reduces;
  bool is_by_rank;     ///< the buffer holds a block for every rank
  Operation schedule;  ///< whose schedules do it: a barrier is an allreduce of something that nobody looks at
};

/// What a barrier is said to move: one element of this.
inline constexpr std::int64_t barrier_bytes = 8;

std::span<const OperationType> operations();
const OperationType& type_of(Operation operation);
/// Those of these buffer lengths that an operation can have: at least `smallest_block` bytes for every
/// rank where it is by rank. A barrier has barrier_bytes alone, if there are any.
std::vector<std::int64_t> sizes_of(Operation operation, std::span<const std::int64_t> sizes, int ranks,
                                   std::int64_t smallest_block);
/// By either name. Throws InputError that lists what there is.
Operation operation(std::string_view name);

}  // namespace ayatori::collectives
