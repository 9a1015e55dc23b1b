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

/// Exponents of this rank's entries, and the largest of each row when rows and columns are scaled.
struct Exponents {
  MatrixEntries own;
  std::vector<std::int32_t> entry;
  Range rows;

  explicit Exponents(const MatrixToFactor& matrix)
      : own(matrix.own()), rows(matrix.partition().range(matrix.comm().rank())) {
    entry.reserve(own.value.size());
    for (const double value : own.value) entry.push_back(exponent_of(value));
  }
  std::vector<std::int32_t> largest_of_rows(const Equilibration& by) const {
    std::vector<std::int32_t> largest(rows.size(), of_zero);
    for (std::size_t k = 0; k < entry.size(); ++k) {
      if (entry[k] == of_zero) continue;
      std::int32_t& of_row = largest[own.row[k] - 1 - rows.begin];
      of_row = std::max(of_row, entry[k] + by.row[own.row[k] - 1] + by.column[own.column[k] - 1]);
    }
    for (std::int32_t& exponent : largest)
      if (exponent == of_zero) exponent = 0;
    return largest;
  }
};

std::int32_t half_rounded_down(std::int32_t value) {
  return value >= 0 ? value / 2 : (value - 1) / 2;
}

/// Collective. By the roots of the rows' largest entries, again and again (Ruiz 2001): each time the range of
/// what is left is the root of what it was.
void scale_symmetrically(const comm::Comm& comm, const Exponents& exponents, Equilibration& found) {
  constexpr int most_passes = 8;
  for (int pass = 0; pass < most_passes; ++pass) {
    auto largest = comm::agree(comm, [&] { return exponents.largest_of_rows(found); });
    const bool is_done = std::ranges::all_of(largest, [](std::int32_t e) { return e >= -1 && e <= 1; });
    if (!comm.any(!is_done)) return;
    for (std::int32_t& e : largest) e = half_rounded_down(e);
    const auto all = comm.allgatherv(std::span<const std::int32_t>(largest)).values;
    for (std::size_t i = 0; i < all.size(); ++i) found.row[i] -= all[i];
    found.column = found.row;
  }
}

/// Collective. Rows first, then columns.
void scale_both_sides(const comm::Comm& comm, const Exponents& exponents, Equilibration& found) {
  const auto largest = comm::agree(comm, [&] { return exponents.largest_of_rows(found); });
  found.row = comm.allgatherv(std::span<const std::int32_t>(largest)).values;
  for (std::int32_t& e : found.row) e = -e;
  std::ranges::fill(found.column, of_zero);
  const MatrixEntries& own = exponents.own;
  for (std::size_t k = 0; k < exponents.entry.size(); ++k) {
    if (exponents.entry[k] == of_zero) continue;
    std::int32_t& of_column = found.column[own.column[k] - 1];
    of_column = std::max(of_column, exponents.entry[k] + found.row[own.row[k] - 1]);
  }
  comm.allreduce(std::span<std::int32_t>(found.column), comm::ReduceOp::max);
  for (std::int32_t& e : found.column) e = e == of_zero ? 0 : -e;
}

}  // namespace

Equilibration equilibrate(const MatrixToFactor& matrix) {
  const comm::Comm& comm = matrix.comm();
  Equilibration found;
  const auto exponents = comm::agree(comm, [&] {
    found.row.assign(matrix.rows(), 0);
    found.column = found.row;
    return Exponents(matrix);
  });
  if (matrix.is_symmetric())
    scale_symmetrically(comm, exponents, found);
  else
    scale_both_sides(comm, exponents, found);
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
