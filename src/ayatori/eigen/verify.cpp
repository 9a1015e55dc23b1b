#include "ayatori/eigen/verify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ayatori/base/statistics.hpp"

namespace ayatori::eigen {

namespace {

constexpr std::int64_t panel_columns = 64;

double n_eps(std::int64_t n) {
  return static_cast<double>(std::max<std::int64_t>(n, 1)) * std::numeric_limits<double>::epsilon();
}

/// The largest |z_i . z_j - [i = j]| of vectors `panel` (of rank `source`, its first being number `first`)
/// and those of mine that come after, or, of another rank's, all: of two ranks only one compares.
double worst_product(const ColumnSpread& z, Range mine, ConstBlock panel, std::int64_t first, bool is_own,
                     Array<double>& products) {
  const std::int64_t skip = is_own ? first - mine.begin : 0;
  const std::int64_t columns = mine.size() - skip;
  products.resize(panel.columns * columns);
  multiply(1, Op::transpose, panel, Op::none, {z.values.data() + skip * z.n, z.n, columns, z.n}, 0,
           {products.data(), panel.columns, columns, panel.columns});
  if (is_own) {
    for (std::int64_t k = 0; k < panel.columns; ++k) products[k * panel.columns + k] -= 1;
  }
  double worst = 0;
  for (const double product : products) worst = worse(worst, std::abs(product));
  return worst;
}

}  // namespace

double residual_ratio(const DistributedDense& a, std::span<const double> values, const ColumnSpread& z) {
  const comm::Comm& comm = a.grid.all;
  const Range mine = split_evenly(z.count, comm.size(), comm.rank());
  const double norm = one_norm(a);
  if (z.count == 0) return 0;
  Array<double> residual(z.values.size());
  for (std::int64_t q = 0; q < mine.size(); ++q) {
    const double lambda = values[mine.begin + q];
    for (std::int64_t i = 0; i < z.n; ++i) residual[q * z.n + i] = -lambda * z.values[q * z.n + i];
  }
  for (std::int64_t begin = 0; begin < z.n; begin += panel_columns) {
    const Range wanted{begin, std::min(begin + panel_columns, z.n)};
    const Array<double> panel = gather_columns(a, wanted, 0);
    multiply(1, Op::none, {panel.data(), z.n, wanted.size(), z.n}, Op::none,
             {z.values.data() + begin, wanted.size(), mine.size(), z.n}, 1,
             {residual.data(), z.n, mine.size(), z.n});
  }
  double worst = 0;
  for (std::int64_t q = 0; q < mine.size(); ++q) {
    double square = 0;
    for (std::int64_t i = 0; i < z.n; ++i) square += residual[q * z.n + i] * residual[q * z.n + i];
    worst = worse(worst, std::sqrt(square));
  }
  worst = comm.allreduce(worst, comm::ReduceOp::max);
  return worst == 0 ? 0 : worst / (n_eps(z.n) * norm);
}

double orthogonality_ratio(const comm::Comm& comm, const ColumnSpread& z) {
  const Range mine = split_evenly(z.count, comm.size(), comm.rank());
  Array<double> panel;
  Array<double> products;
  double worst = 0;
  for (int source = 0; source < comm.size(); ++source) {
    const Range theirs = split_evenly(z.count, comm.size(), source);
    const bool is_own = source == comm.rank();
    // Of ranks r and s one compares, each about as often as the others.
    const bool compares = is_own || ((source + comm.rank()) % 2 == 1) == (source < comm.rank());
    for (std::int64_t first = theirs.begin; first < theirs.end; first += panel_columns) {
      const std::int64_t width = std::min(panel_columns, theirs.end - first);
      panel.resize(z.n * width);
      if (is_own) std::copy_n(z.values.data() + (first - mine.begin) * z.n, panel.size(), panel.data());
      comm.broadcast(std::span<double>(panel), source);
      if (!compares) continue;
      worst = worse(worst, worst_product(z, mine, {panel.data(), z.n, width, z.n}, first, is_own, products));
    }
  }
  return comm.allreduce(worst, comm::ReduceOp::max) / n_eps(z.n);
}

double moment_ratio(const DistributedDense& a, std::span<const double> values) {
  double sums[2] = {0, 0};  // trace, square of the norm
  for (std::int64_t l = 0; l < a.columns.count(); ++l) {
    const double* const column = a.column(l);
    double square = 0;  // of a column: rounding of equal elements goes one way, and grows with what is summed
    for (std::int64_t k = 0; k < a.rows.count(); ++k) square += column[k] * column[k];
    sums[1] += square;
    const std::int64_t j = a.columns.global(l);
    if (a.rows.owns(j)) sums[0] += column[a.rows.local(j)];
  }
  a.grid.all.allreduce(std::span<double>(sums), comm::ReduceOp::sum);
  const double norm = std::sqrt(sums[1]);
  double trace = 0;
  double square = 0;
  for (const double value : values) {
    trace += value;
    square += value * value;
  }
  if (norm == 0) return square == 0 ? 0 : std::numeric_limits<double>::infinity();
  return std::max(std::abs(trace - sums[0]), std::abs(std::sqrt(square) - norm)) / (n_eps(a.order()) * norm);
}

}  // namespace ayatori::eigen
