#include "ayatori/collectives/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"

namespace ayatori::collectives {

std::span<const OperationType> operations() {
  static constexpr std::array list{
      OperationType{Operation::broadcast, "broadcast", "bcast", true, true, false, false,
                    Operation::broadcast},
      OperationType{Operation::reduce, "reduce", "reduce", true, true, true, false, Operation::reduce},
      OperationType{Operation::allreduce, "allreduce", "allreduce", true, false, true, false,
                    Operation::allreduce},
      OperationType{Operation::gather, "gather", "gather", false, true, false, true, Operation::gather},
      OperationType{Operation::scatter, "scatter", "scatter", false, true, false, true, Operation::scatter},
      OperationType{Operation::allgather, "allgather", "allgather", false, false, false, true,
                    Operation::allgather},
      OperationType{Operation::reduce_scatter, "reduce-scatter", "reduce_scatter", false, false, true, true,
                    Operation::reduce_scatter},
      OperationType{Operation::alltoall, "alltoall", "alltoall", false, false, false, true,
                    Operation::alltoall},
      OperationType{Operation::barrier, "barrier", "barrier", true, false, true, false,
                    Operation::allreduce}};
  return list;
}

const OperationType& type_of(Operation operation) {
  return *std::ranges::find(operations(), operation, &OperationType::operation);
}

std::vector<std::int64_t> sizes_of(Operation operation, std::span<const std::int64_t> sizes, int ranks,
                                   std::int64_t smallest_block) {
  std::vector<std::int64_t> possible;
  if (operation == Operation::barrier) {
    if (!sizes.empty()) possible = {barrier_bytes};
    return possible;
  }
  const std::int64_t shortest = type_of(operation).is_by_rank ? smallest_block * ranks : 0;
  std::ranges::copy_if(sizes, std::back_inserter(possible),
                       [&](std::int64_t bytes) { return bytes >= shortest; });
  return possible;
}

Operation operation(std::string_view name) {
  for (const auto& type : operations()) {
    if (name == type.name || name == type.mpi_name) return type.operation;
  }
  throw InputError(
      fmt::format("there is no collective '{}': {}", name, choose_from(name, names_in(operations()))));
}

}  // namespace ayatori::collectives
