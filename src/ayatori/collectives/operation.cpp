#include "ayatori/collectives/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "ayatori/base/error.hpp"

namespace ayatori::collectives {

std::span<const OperationType> operations() {
  static constexpr std::array list{
      OperationType{Operation::broadcast, "broadcast", "bcast", true, true, false, false},
      OperationType{Operation::reduce, "reduce", "reduce", true, true, true, false},
      OperationType{Operation::allreduce, "allreduce", "allreduce", true, false, true, false},
      OperationType{Operation::gather, "gather", "gather", false, true, false, true},
      OperationType{Operation::scatter, "scatter", "scatter", false, true, false, true},
      OperationType{Operation::allgather, "allgather", "allgather", false, false, false, true},
      OperationType{Operation::reduce_scatter, "reduce-scatter", "reduce_scatter", false, false, true, true},
      OperationType{Operation::alltoall, "alltoall", "alltoall", false, false, false, true}};
  return list;
}

const OperationType& type_of(Operation operation) {
  return *std::ranges::find(operations(), operation, &OperationType::operation);
}

Operation operation(std::string_view name) {
  std::string known;
  for (const auto& type : operations()) {
    if (name == type.name || name == type.mpi_name) return type.operation;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", type.name);
  }
  throw InputError(fmt::format("there is no collective '{}'; known: {}", name, known));
}

}  // namespace ayatori::collectives
