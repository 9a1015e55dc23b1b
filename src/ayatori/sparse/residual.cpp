#include "ayatori/sparse/residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ayatori/base/parallel.hpp"
#include "ayatori/sparse/halo.hpp"

// This file is compiled without contraction of products and sums (CMakeLists.txt): the compiler's own fused
// operations would spoil the error-free sums.

namespace ayatori::sparse {

namespace {

constexpr double u = 0x1p-53;

/// What underflow of a product may cost an entry, in this unit: five of the least numbers at most (Ogita,
/// Rump, Oishi). Rounded up to what has a square within the range: arithmetic with less takes a hundred times
/// as long.
double of_underflow(double inverse_unit) {
  constexpr double has_square = 1e-150;
  return std::max(5 * std::numeric_limits<double>::denorm_min() * inverse_unit, has_square);
}

/// b - sum a x in doubles, and the sum of magnitudes that bounds its error. The constants leave room for the
/// rounding of the bound itself.
class PlainRow {
 public:
  explicit PlainRow(double b) : sum_(b), magnitude_(std::abs(b)) {}
  void subtract(double a, double x) {
    const double product = a * x;
    sum_ -= product;
    magnitude_ += std::abs(product);
  }
  double value() const { return sum_; }
  double error(double entries) const { return (entries + 4) * u * magnitude_; }
  double product_squares() const { return 0; }

 private:
  double sum_;
  double magnitude_;
};

/// The same as an unevaluated sum of two doubles.
class DoubledRow {
 public:
  explicit DoubledRow(double b) : high_(b), magnitude_(std::abs(b)) {}
  void subtract(double a, double x) {
    const double product = a * x;
    const double rest_of_product = std::fma(a, x, -product);
    const double sum = high_ - product;
    const double change = sum - high_;
    const double rest_of_sum = (high_ - (sum - change)) - (product + change);
    low_ += rest_of_sum - rest_of_product;
    high_ = sum;
    magnitude_ += std::abs(product);
    squares_ += product * product;
  }
  double value() const { return high_ + low_; }
  double error(double entries) const {
    const double gamma = (entries + 4) * u;
    return 2 * u * std::abs(value()) + gamma * gamma * magnitude_;
  }
  double product_squares() const { return squares_; }

 private:
  double high_;
  double low_ = 0;
  double magnitude_;
  double squares_ = 0;
};

template <class Row>
void add(const Row& row, double entries, double inverse_unit, double underflow, ResidualSums& sums) {
  const double value = row.value() * inverse_unit;
  const double error = row.error(entries) * inverse_unit + (entries + 1) * underflow;
  sums.squares += value * value;
  sums.error_squares += error * error;
  sums.product_squares += row.product_squares() * inverse_unit * inverse_unit;
}

/// Sums over threads by parallel_sums, which wants doubles in a row.
using Packed = std::array<double, 6>;

Packed pack(const std::array<ResidualSums, 2>& sums) {
  return {sums[0].squares, sums[0].error_squares, sums[0].product_squares,
          sums[1].squares, sums[1].error_squares, sums[1].product_squares};
}

std::array<ResidualSums, 2> unpack(const Packed& p) {
  return {ResidualSums{p[0], p[1], p[2]}, ResidualSums{p[3], p[4], p[5]}};
}

template <class Row>
std::array<ResidualSums, 2> split_residual(const SplitMatrix& parts, std::span<const double> x,
                                           std::span<const double> ghosts, std::span<const double> b,
                                           std::span<double> r, std::span<const std::uint8_t> apart) {
  const Csr& interior = parts.interior;
  const Csr& halo = parts.halo;
  const double underflow = of_underflow(1);
  return unpack(parallel_sums<6>(interior.rows, [&](Range range) {
    std::array<ResidualSums, 2> sums{};
    auto h = std::ranges::lower_bound(parts.halo_rows, range.begin) - parts.halo_rows.begin();
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      Row row(b[i]);
      std::int64_t entries = interior.row_start[i + 1] - interior.row_start[i];
      for (std::int64_t k = interior.row_start[i]; k < interior.row_start[i + 1]; ++k)
        row.subtract(interior.value[k], x[interior.column[k]]);
      if (h < halo.rows && parts.halo_rows[h] == i) {
        entries += halo.row_start[h + 1] - halo.row_start[h];
        for (std::int64_t k = halo.row_start[h]; k < halo.row_start[h + 1]; ++k)
          row.subtract(halo.value[k], ghosts[halo.column[k]]);
        ++h;
      }
      r[i] = row.value();
      add(row, static_cast<double>(entries), 1, underflow, sums[apart.empty() ? 0 : apart[i]]);
    }
    return pack(sums);
  }));
}

template <class Row, class Index>
ResidualSums borrowed_residual(std::int64_t rows, const Index* row_start, const Index* column,
                               const double* value, std::span<const double> x, std::span<const double> b,
                               std::span<double> r, double unit) {
  const double inverse_unit = 1 / unit;
  const double underflow = of_underflow(inverse_unit);
  return unpack(parallel_sums<6>(rows, [&](Range range) {
    std::array<ResidualSums, 2> sums{};
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      Row row(b[i]);
      for (Index k = row_start[i]; k < row_start[i + 1]; ++k) row.subtract(value[k], x[column[k]]);
      r[i] = row.value();
      add(row, static_cast<double>(row_start[i + 1] - row_start[i]), inverse_unit, underflow, sums[0]);
    }
    return pack(sums);
  }))[0];
}

}  // namespace

std::array<ResidualSums, 2> residual(const comm::Comm& comm, const SplitMatrix& parts,
                                     std::span<const double> x, std::span<const double> b,
                                     std::span<double> r, Summation summation,
                                     std::span<const std::uint8_t> apart) {
  const auto exchange = halo_strategies().front().make(comm, parts.partition, parts.plan);
  exchange->begin(x);
  const auto ghosts = exchange->finish();
  return summation == Summation::plain ? split_residual<PlainRow>(parts, x, ghosts, b, r, apart)
                                       : split_residual<DoubledRow>(parts, x, ghosts, b, r, apart);
}

template <class Index>
ResidualSums residual(std::int64_t rows, const Index* row_start, const Index* column, const double* value,
                      std::span<const double> x, std::span<const double> b, std::span<double> r,
                      Summation summation, double unit) {
  return summation == Summation::plain
             ? borrowed_residual<PlainRow>(rows, row_start, column, value, x, b, r, unit)
             : borrowed_residual<DoubledRow>(rows, row_start, column, value, x, b, r, unit);
}

template ResidualSums residual<std::int32_t>(std::int64_t, const std::int32_t*, const std::int32_t*,
                                             const double*, std::span<const double>, std::span<const double>,
                                             std::span<double>, Summation, double);
template ResidualSums residual<std::int64_t>(std::int64_t, const std::int64_t*, const std::int64_t*,
                                             const double*, std::span<const double>, std::span<const double>,
                                             std::span<double>, Summation, double);

}  // namespace ayatori::sparse
