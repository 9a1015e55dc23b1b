#include "ayatori/solvers/preconditioners/complete/matrix_entries.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::solvers {

namespace {

/// Calls `visit(row, column, value)` for this rank's entries, by global numbers from 0, and rows of each part
/// in their order.
template <class Visit>
void for_each_entry(const sparse::DistributedMatrix& matrix, Visit&& visit) {
  const std::int64_t first_row = matrix.partition().range(matrix.comm().rank()).begin;
  const sparse::SplitMatrix& parts = matrix.parts();
  const auto of_part = [&](const sparse::Csr& part, auto&& local_row, auto&& global_column) {
    for (std::int32_t r = 0; r < part.rows; ++r)
      for (std::int64_t k = part.row_start[r]; k < part.row_start[r + 1]; ++k)
        visit(first_row + local_row(r), global_column(part.column[k]), part.value[k]);
  };
  of_part(
      parts.interior, [](std::int32_t r) { return r; },
      [&](std::int32_t c) -> std::int64_t { return first_row + c; });
  of_part(
      parts.halo, [&](std::int32_t r) { return parts.halo_rows[r]; },
      [&](std::int32_t c) { return parts.plan.ghosts[c]; });
}

}  // namespace

ComplexEntries complex_entries(const MatrixEntries& real_form) {
  ComplexEntries entries;
  const std::size_t count = real_form.value.size() / 4;
  entries.row.reserve(count);
  entries.column.reserve(count);
  entries.value.reserve(count);
  for (std::size_t k = 0; k < real_form.value.size(); k += 2) {
    if (real_form.row[k] % 2 == 0) continue;  // the first row of a pair tells both parts
    entries.row.push_back((real_form.row[k] + 1) / 2);
    entries.column.push_back((real_form.column[k] + 1) / 2);
    entries.value.emplace_back(real_form.value[k], -real_form.value[k + 1]);
  }
  return entries;
}

template <class Scalar>
void keep_upper_triangle(MatrixEntriesOf<Scalar>& entries) {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < entries.value.size(); ++k) {
    if (entries.column[k] < entries.row[k]) continue;
    entries.row[kept] = entries.row[k];
    entries.column[kept] = entries.column[k];
    entries.value[kept++] = entries.value[k];
  }
  entries.row.resize(kept);
  entries.column.resize(kept);
  entries.value.resize(kept);
}

template void keep_upper_triangle(MatrixEntries&);
template void keep_upper_triangle(ComplexEntries&);

std::uint64_t fingerprint_of_pattern(const std::vector<int>& row, const std::vector<int>& column) {
  std::uint64_t hash = row.size();
  for (std::size_t k = 0; k < row.size(); ++k)
    hash = random_bits(hash,
                       (static_cast<std::uint64_t>(row[k]) << 32U) | static_cast<std::uint32_t>(column[k]));
  return hash;
}

MatrixToFactor::MatrixToFactor(const sparse::DistributedMatrix& matrix, bool is_symmetric,
                               std::int64_t most_gathered)
    : matrix_(matrix), is_symmetric_(is_symmetric), most_gathered_(most_gathered) {
  constexpr double useful = 0.01;  // share of the row's largest
  const auto [mine, is_useful] = comm::agree(comm(), [&] {
    if (rows() >= std::numeric_limits<int>::max())
      throw EnvironmentError("direct: no library of complete factors counts that many rows");
    const std::int64_t first_row = partition().range(comm().rank()).begin;
    std::vector<double> diagonal(matrix_.local_size(), 0);
    std::vector<double> largest(diagonal.size(), 0);
    std::int64_t count = 0;
    for_each_entry(matrix_, [&](std::int64_t row, std::int64_t column, double value) {
      if (!std::isfinite(value))
        throw InputError(fmt::format("direct: row {}: an entry is not finite", row + 1));
      const std::int64_t r = row - first_row;
      ++count;
      if (row == column) diagonal[r] = value;
      largest[r] = std::max(largest[r], std::abs(value));
    });
    bool all = true;
    for (std::size_t r = 0; r < diagonal.size(); ++r)
      all = all && diagonal[r] != 0 &&
            (is_symmetric_ ? diagonal[r] > 0 : std::abs(diagonal[r]) >= useful * largest[r]);
    return std::pair(count, all);
  });
  has_useful_diagonal_ = !comm().any(!is_useful);
  nonzeros_ = comm().allreduce(mine, comm::ReduceOp::sum);
}

MatrixEntries MatrixToFactor::own() const {
  MatrixEntries entries;
  const std::int64_t count = matrix_.parts().interior.nonzeros() + matrix_.parts().halo.nonzeros();
  entries.row.reserve(count);
  entries.column.reserve(count);
  entries.value.reserve(count);
  for_each_entry(matrix_, [&](std::int64_t row, std::int64_t column, double value) {
    entries.row.push_back(static_cast<int>(row + 1));
    entries.column.push_back(static_cast<int>(column + 1));
    entries.value.push_back(value);
  });
  return entries;
}

const MatrixEntries& MatrixToFactor::gathered() {
  if (gathered_) return *gathered_;
  auto all = comm::agree(comm(), [&] { return own(); });
  if (comm().size() > 1) {
    all.row = std::move(comm().gatherv(std::span<const int>(all.row), 0).values);
    all.column = std::move(comm().gatherv(std::span<const int>(all.column), 0).values);
    all.value = std::move(comm().gatherv(std::span<const double>(all.value), 0).values);
  }
  gathered_ = std::move(all);
  return *gathered_;
}

MatrixEntries MatrixToFactor::take_gathered() {
  static_cast<void>(gathered());
  MatrixEntries all = std::move(*gathered_);
  gathered_.reset();
  return all;
}

}  // namespace ayatori::solvers
