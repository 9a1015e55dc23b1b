#include "ayatori/solvers/preconditioners/diagonal.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/pattern/row_figures.hpp"

namespace ayatori::solvers {

namespace {

/// A diagonal entry this small against its row is rounding noise: as good as zero.
constexpr double zero_diagonal = 1e-12;

/// Of this rank's rows, ghosts included.
struct RowScans {
  Array<double> largest;  ///< |entry|; not finite if one is not
  Array<double> diagonal;
};

/// Traffic: 12 bytes per nonzero, 24 per row.
RowScans scan_rows(const sparse::SplitMatrix& parts) {
  RowScans scans{Array<double>(parts.interior.rows), Array<double>(parts.interior.rows)};
  parallel_for(parts.interior.rows, [&](std::int64_t i) {
    const sparse::RowFigures row = sparse::row_figures(parts.interior, i, i);
    scans.largest[i] = std::bit_cast<double>(row.largest_bits);
    scans.diagonal[i] = row.diagonal;
  });
  parallel_for(parts.halo.rows, [&](std::int64_t r) {
    constexpr std::int64_t no_column = -1;
    double& row = scans.largest[parts.halo_rows[r]];
    const auto halo = std::bit_cast<double>(sparse::row_figures(parts.halo, r, no_column).largest_bits);
    if (!(halo <= row)) row = std::isnan(row) ? row : halo;
  });
  return scans;
}

/// Throws for the first row whose value is not finite.
void check_finite(const Array<double>& value, std::int64_t first_row, std::string_view who) {
  const auto bad = std::find_if(value.begin(), value.end(), [](double v) { return !std::isfinite(v); });
  if (bad == value.end()) return;
  throw InputError(fmt::format("{}: row {}: an entry of the matrix or 1 / diagonal is not finite", who,
                               first_row + (bad - value.begin()) + 1));
}

InverseDiagonal invert_locally(const sparse::SplitMatrix& parts, std::int64_t first_row,
                               std::string_view who) {
  RowScans scans = scan_rows(parts);
  const Array<double>& row_max = scans.largest;
  check_finite(row_max, first_row, who);
  const double largest = row_max.empty() ? 0 : *std::max_element(row_max.begin(), row_max.end());
  const double scale = largest > 0 ? largest : 1;
  InverseDiagonal result{.value = std::move(scans.diagonal)};
  const double replaced = parallel_sum(parts.interior.rows, [&](Range rows) {
    double count = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      double d = result.value[i];
      if (std::abs(d) <= zero_diagonal * row_max[i]) {
        d = row_max[i] > 0 ? row_max[i] : scale;
        ++count;
      }
      result.value[i] = 1 / d;
    }
    return count;
  });
  check_finite(result.value, first_row, who);
  result.replaced = static_cast<std::int64_t>(replaced);
  return result;
}

}  // namespace

std::vector<std::string> InverseDiagonal::notes() const {
  if (replaced == 0) return {};
  return {fmt::format("{} zero diagonal entries replaced by the largest entry of their row", replaced)};
}

InverseDiagonal invert_diagonal(const sparse::DistributedMatrix& matrix, std::string_view who) {
  const std::int64_t first_row = matrix.partition().range(matrix.comm().rank()).begin;
  InverseDiagonal result =
      comm::agree(matrix.comm(), [&] { return invert_locally(matrix.parts(), first_row, who); });
  result.replaced = matrix.comm().allreduce(result.replaced, comm::ReduceOp::sum);
  return result;
}

}  // namespace ayatori::solvers
