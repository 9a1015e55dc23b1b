#pragma once

#include <span>
#include <string_view>

namespace ayatori::collectives {

enum class Operation { broadcast, reduce, allreduce, gather, scatter, allgather, reduce_scatter, alltoall };

struct OperationType {
  Operation operation;
  std::string_view name;
  std::string_view mpi_name;  ///< without "MPI_", in lower case: what people type
  bool has_words;  ///< algorithms are Hybrid2 words; of the others there is one for each order of digits
  bool has_root;
  bool reduces;
  bool is_by_rank;  ///< the buffer holds a block for every rank
};

std::span<const OperationType> operations();
const OperationType& type_of(Operation operation);
/// By either name. Throws InputError that lists what there is.
Operation operation(std::string_view name);

}  // namespace ayatori::collectives
