#include "ayatori/solvers/preconditioners/complete/equilibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "ayatori/comm/agree.hpp"

namespace ayatori::solvers {

namespace {

constexpr std::int32_t of_zero = std::numeric_limits<std::int32_t>::min() / 2;

std::int32_t exponent_of(double value) {
  return value == 0 ? of_zero : std::ilogb(value);
}

}  // namespace

Equilibration equilibrate(const MatrixToFactor& matrix) {
  const comm::Comm& comm = matrix.comm();
  const Range rows = matrix.partition().range(comm.rank());
  MatrixEntries own;
  const auto mine = comm::agree(comm, [&] {
    own = matrix.own();
    std::vector<std::int32_t> largest(rows.size(), of_zero);
    for (std::size_t k = 0; k < own.value.size(); ++k) {
      std::int32_t& of_row = largest[own.row[k] - 1 - rows.begin];
      of_row = std::max(of_row, exponent_of(own.value[k]));
    }
    for (std::int32_t& e : largest) {
      const std::int32_t exponent = e == of_zero ? 0 : e;
      // Rounded down for both factors of an entry.
      e = -(matrix.is_symmetric() ? (exponent >= 0 ? exponent / 2 : (exponent - 1) / 2) : exponent);
    }
    return largest;
  });
  Equilibration found;
  found.row = comm.allgatherv(std::span<const std::int32_t>(mine)).values;
  if (matrix.is_symmetric()) {
    found.column = found.row;
    return found;
  }
  found.column.assign(found.row.size(), of_zero);
  for (std::size_t k = 0; k < own.value.size(); ++k) {
    if (own.value[k] == 0) continue;
    std::int32_t& of_column = found.column[own.column[k] - 1];
    of_column = std::max(of_column, exponent_of(own.value[k]) + found.row[own.row[k] - 1]);
  }
  comm.allreduce(std::span<std::int32_t>(found.column), comm::ReduceOp::max);
  for (std::int32_t& e : found.column) e = e == of_zero ? 0 : -e;
  return found;
}

std::vector<float> scaled(const MatrixEntries& entries, const Equilibration& by) {
  std::vector<float> values(entries.value.size());
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<float>(
        std::ldexp(entries.value[k], by.row[entries.row[k] - 1] + by.column[entries.column[k] - 1]));
  return values;
}

}  // namespace ayatori::solvers
