#include "ayatori/solvers/preconditioners/diagonal.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/kernels/simd.hpp"
#include "ayatori/sparse/pattern/row_figures.hpp"

namespace ayatori::solvers {

namespace {

/// A diagonal entry this small against its row is rounding noise: as good as zero.
constexpr double zero_diagonal = 1e-12;

/// What is read of this rank's rows, ghosts included.
struct RowScans {
  Array<double> largest;  ///< |entry|; not finite if one is not
  Array<double> diagonal;
};

/// Traffic: 12 bytes per nonzero, 24 per row.
RowScans scan_rows(const sparse::SplitMatrix& parts) {
  RowScans scans{Array<double>(parts.interior.rows), Array<double>(parts.interior.rows)};
  const auto simd = sparse::best_simd();
  parallel_ranges(parts.interior.rows, [&](Range rows) {
    sparse::with_simd(simd, [&]<int Width>() [[gnu::always_inline]] {
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const sparse::RowFigures row = sparse::row_figures(parts.interior, i, i);
        scans.largest[i] = std::bit_cast<double>(row.largest_bits);
        scans.diagonal[i] = row.diagonal;
      }
    });
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
template <class Scalar>
void check_finite(const Array<Scalar>& value, std::int64_t first_row, std::string_view who) {
  const auto bad = std::find_if(value.begin(), value.end(), [](Scalar v) { return !sparse::is_finite(v); });
  if (bad == value.end()) return;
  throw InputError(fmt::format("{}: row {}: an entry of the matrix or 1 / diagonal is not finite", who,
                               first_row + (bad - value.begin()) + 1));
}

/// The diagonal becomes its inverse; where it vanishes beside its row's largest entry, that of this one.
template <class Scalar>
InverseDiagonalOf<Scalar> inverted(Array<Scalar> diagonal, const Array<double>& row_max,
                                   std::int64_t first_row, std::string_view who) {
  check_finite(row_max, first_row, who);
  const double largest = row_max.empty() ? 0 : *std::max_element(row_max.begin(), row_max.end());
  const double scale = largest > 0 ? largest : 1;
  InverseDiagonalOf<Scalar> result{.value = std::move(diagonal)};
  const double replaced = parallel_sum(static_cast<std::int64_t>(row_max.size()), [&](Range rows) {
    double count = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      Scalar d = result.value[i];
      if (std::abs(d) <= zero_diagonal * row_max[i]) {
        d = row_max[i] > 0 ? row_max[i] : scale;
        ++count;
      }
      result.value[i] = 1.0 / d;
    }
    return count;
  });
  check_finite(result.value, first_row, who);
  result.replaced = static_cast<std::int64_t>(replaced);
  return result;
}

/// The same for complex rows: a diagonal entry has its imaginary part below it in the real form.
InverseDiagonalOf<sparse::Complex> invert_complex_locally(const sparse::SplitMatrix& parts,
                                                          std::int64_t first_row, std::string_view who) {
  const RowScans scans = scan_rows(parts);
  Array<sparse::Complex> diagonal(scans.diagonal.size() / 2);
  Array<double> largest(diagonal.size());
  parallel_for(static_cast<std::int64_t>(diagonal.size()), [&](std::int64_t i) {
    diagonal[i] = {scans.diagonal[2 * i], sparse::row_figures(parts.interior, 2 * i + 1, 2 * i).diagonal};
    largest[i] = std::max(scans.largest[2 * i], scans.largest[2 * i + 1]);
  });
  return inverted(std::move(diagonal), largest, first_row / 2, who);
}

}  // namespace

template <class Scalar>
std::vector<std::string> InverseDiagonalOf<Scalar>::notes() const {
  if (replaced == 0) return {};
  return {fmt::format("{} zero diagonal entries replaced by the largest entry of their row", replaced)};
}

template struct InverseDiagonalOf<double>;
template struct InverseDiagonalOf<sparse::Complex>;

namespace {

/// Collective.
template <class Invert>
auto invert_all(const sparse::DistributedMatrix& matrix, std::string_view who, const Invert& invert) {
  const std::int64_t first_row = matrix.partition().range(matrix.comm().rank()).begin;
  auto result = comm::agree(matrix.comm(), [&] { return invert(matrix.parts(), first_row, who); });
  result.replaced = matrix.comm().allreduce(result.replaced, comm::ReduceOp::sum);
  return result;
}

}  // namespace

InverseDiagonal invert_diagonal(const sparse::DistributedMatrix& matrix, std::string_view who) {
  return invert_all(matrix, who,
                    [](const sparse::SplitMatrix& parts, std::int64_t first_row, std::string_view name) {
                      RowScans scans = scan_rows(parts);
                      return inverted(std::move(scans.diagonal), scans.largest, first_row, name);
                    });
}

InverseDiagonalOf<sparse::Complex> invert_complex_diagonal(const sparse::DistributedMatrix& matrix,
                                                           std::string_view who) {
  return invert_all(matrix, who, invert_complex_locally);
}

}  // namespace ayatori::solvers
