#include "ayatori/solvers/preconditioners/diagonal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::solvers {

namespace {

/// A diagonal entry this small against its row is rounding noise: as good as zero.
constexpr double zero_diagonal = 1e-12;

/// The largest |entry| of row i; NaN if one is not finite.
double max_abs_of_row(const sparse::Csr& matrix, std::int64_t i) {
  double largest = 0;
  for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
    if (!std::isfinite(matrix.value[k])) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, std::abs(matrix.value[k]));
  }
  return largest;
}

/// max_j |a_ij| of this rank's rows, ghosts included; NaN in rows with an entry that is not finite.
Array<double> max_abs_of_rows(const sparse::SplitMatrix& parts) {
  Array<double> largest(parts.interior.rows);
  parallel_for(parts.interior.rows, [&](std::int64_t i) { largest[i] = max_abs_of_row(parts.interior, i); });
  parallel_for(parts.halo.rows, [&](std::int64_t r) {
    double& row = largest[parts.halo_rows[r]];
    const double halo = max_abs_of_row(parts.halo, r);
    if (!(halo <= row)) row = std::isnan(row) ? row : halo;
  });
  return largest;
}

double stored_diagonal(const sparse::Csr& interior, std::int64_t i) {
  const auto* begin = interior.column.data() + interior.row_start[i];
  const auto* end = interior.column.data() + interior.row_start[i + 1];
  const auto* found = std::lower_bound(begin, end, i);
  return found != end && *found == i ? interior.value[found - interior.column.data()] : 0;
}

/// Throws for the first row whose value is not finite.
void check_finite(const Array<double>& value, std::int64_t first_row, std::string_view who) {
  const auto bad = std::find_if(value.begin(), value.end(), [](double v) { return !std::isfinite(v); });
  if (bad == value.end()) return;
  throw InputError(fmt::format("{}: row {}: an entry of the matrix or 1 / diagonal is not finite", who,
                               first_row + (bad - value.begin())));
}

InverseDiagonal invert_locally(const sparse::SplitMatrix& parts, std::int64_t first_row,
                               std::string_view who) {
  const Array<double> row_max = max_abs_of_rows(parts);
  check_finite(row_max, first_row, who);
  const double largest = row_max.empty() ? 0 : *std::max_element(row_max.begin(), row_max.end());
  const double scale = largest > 0 ? largest : 1;
  InverseDiagonal result;
  result.value.resize(row_max.size());
  const double replaced = parallel_sum(parts.interior.rows, [&](Range rows) {
    double count = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      double d = stored_diagonal(parts.interior, i);
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
