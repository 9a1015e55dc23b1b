#include "ayatori/eigen/verify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ayatori/base/statistics.hpp"

namespace ayatori::eigen {

namespace {

double n_eps(std::int64_t n) {
  return static_cast<double>(std::max<std::int64_t>(n, 1)) * std::numeric_limits<double>::epsilon();
}

/// The largest |z_i . w_j - [i = j]| / (s_i s_j) of vectors `panel` of Z (of rank `source`, its first being
/// number `first`) and those of my W that come after, or, of another rank's, all: of two ranks only one
/// compares. `sizes` are s of all vectors.
double worst_product(const ColumnSpread& w, Range mine, ConstBlock panel, std::int64_t first, bool is_own,
                     std::span<const double> sizes, Array<double>& products) {
  const std::int64_t skip = is_own ? first - mine.begin : 0;
  const std::int64_t columns = mine.size() - skip;
  products.resize(panel.columns * columns);
  multiply(1, Op::transpose, panel, Op::none, {w.values.data() + skip * w.n, w.n, columns, w.n}, 0,
           {products.data(), panel.columns, columns, panel.columns});
  if (is_own) {
    for (std::int64_t k = 0; k < panel.columns; ++k) products[k * panel.columns + k] -= 1;
  }
  double worst = 0;
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < panel.columns; ++i) {
      const double size = sizes[first + i] * sizes[mine.begin + skip + j];
      worst = worse(worst, std::abs(products[j * panel.columns + i]) / size);
    }
  }
  return worst;
}

/// Collective. The largest |z_i . w_j - [i = j]| / (s_i s_j) / (n eps) for all i <= j, Z^T W being symmetric.
double product_ratio(const comm::Comm& comm, const ColumnSpread& z, const ColumnSpread& w,
                     std::span<const double> sizes) {
  const Range mine = split_evenly(z.count, comm.size(), comm.rank());
  Array<double> products;
  double worst = 0;
  for_panels(comm, z, [&](int source, std::int64_t first, ConstBlock panel) {
    const bool is_own = source == comm.rank();
    // One of ranks r and s compares, each about as often as the others.
    if (!is_own && ((source + comm.rank()) % 2 == 1) != (source < comm.rank())) return;
    worst = worse(worst, worst_product(w, mine, panel, first, is_own, sizes, products));
  });
  return comm.allreduce(worst, comm::ReduceOp::max) / n_eps(z.n);
}

/// Collective. max_j ||r_j||_2 of columns of length n.
double largest_norm(const comm::Comm& comm, const Array<double>& r, std::int64_t n) {
  double worst = 0;
  for (std::size_t begin = 0; begin < r.size(); begin += n) {
    double square = 0;
    for (std::int64_t i = 0; i < n; ++i) square += r[begin + i] * r[begin + i];
    worst = worse(worst, std::sqrt(square));
  }
  return comm.allreduce(worst, comm::ReduceOp::max);
}

/// ||x||_2, also where squares would be beyond the range of doubles.
double safe_norm(std::span<const double> x) {
  double largest = 0;
  for (const double value : x) largest = worse(largest, std::abs(value));
  if (largest == 0 || std::isinf(largest)) return largest;
  double square = 0;
  for (const double value : x) square += (value / largest) * (value / largest);
  return largest * std::sqrt(square);
}

std::span<const double> column_of(const ColumnSpread& z, std::int64_t q) {
  return std::span(z.values).subspan(q * z.n, z.n);
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
  add_product(1, a, z, residual);
  const double worst = largest_norm(comm, residual, z.n);
  return worst == 0 ? 0 : worst / (n_eps(z.n) * norm);
}

double residual_ratio(const DistributedDense& a, const DistributedDense& b, std::span<const double> values,
                      const ColumnSpread& z) {
  const comm::Comm& comm = a.grid.all;
  const Range mine = split_evenly(z.count, comm.size(), comm.rank());
  const double norm_a = one_norm(a);
  const double norm_b = one_norm(b);
  if (z.count == 0) return 0;
  // Vectors are divided by what their residuals would be.
  ColumnSpread scaled = z;
  Array<double> residual(z.values.size(), 0.0);
  const auto scale = [&](std::int64_t q, double factor) {
    for (std::int64_t i = q * z.n; i < (q + 1) * z.n; ++i) scaled.values[i] *= factor;
  };
  for (std::int64_t q = 0; q < mine.size(); ++q) {
    scale(q, 1 / safe_norm(column_of(z, q)));
    const double size = norm_a + std::abs(values[mine.begin + q]) * norm_b;
    scale(q, size == 0 ? 1 : 1 / size);
  }
  add_product(1, a, scaled, residual);
  for (std::int64_t q = 0; q < mine.size(); ++q) scale(q, values[mine.begin + q]);
  add_product(-1, b, scaled, residual);
  return largest_norm(comm, residual, z.n) / n_eps(z.n);
}

double orthogonality_ratio(const comm::Comm& comm, const ColumnSpread& z) {
  return product_ratio(comm, z, z, std::vector<double>(z.count, 1.0));
}

double orthogonality_ratio(const DistributedDense& b, const ColumnSpread& z) {
  const comm::Comm& comm = b.grid.all;
  const Range mine = split_evenly(z.count, comm.size(), comm.rank());
  const double root = std::sqrt(one_norm(b));
  std::vector<double> my_sizes(mine.size());
  for (std::int64_t q = 0; q < mine.size(); ++q)
    my_sizes[q] = std::max(1.0, root * safe_norm(column_of(z, q)));
  const auto sizes = comm.allgatherv(std::span<const double>(my_sizes)).values;
  ColumnSpread products{z.n, z.count, Array<double>(z.values.size(), 0.0)};
  add_product(1, b, z, products.values);
  return product_ratio(comm, z, products, sizes);
}

Moments moments_of(const DistributedDense& a) {
  double sums[2] = {0, 0};  // trace, square of the norm
  for (std::int64_t l = 0; l < a.columns.count(); ++l) {
    const double* const column = a.column(l);
    const std::int64_t j = a.columns.global(l);
    double square = 0;  // a column's: rounding of equal elements goes one way, and grows with what is summed
    for (std::int64_t k = a.rows.local_from(j + 1); k < a.rows.count(); ++k) square += column[k] * column[k];
    sums[1] += 2 * square;
    if (!a.rows.owns(j)) continue;
    const double diagonal = column[a.rows.local(j)];
    sums[0] += diagonal;
    sums[1] += diagonal * diagonal;
  }
  a.grid.all.allreduce(std::span<double>(sums), comm::ReduceOp::sum);
  return {sums[0], std::sqrt(sums[1])};
}

double moment_ratio(const Moments& moments, std::int64_t n, std::span<const double> values) {
  double trace = 0;
  double square = 0;
  for (const double value : values) {
    trace += value;
    square += value * value;
  }
  if (moments.norm == 0) return square == 0 ? 0 : std::numeric_limits<double>::infinity();
  const double distance =
      std::max(std::abs(trace - moments.trace), std::abs(std::sqrt(square) - moments.norm));
  return distance / (n_eps(n) * moments.norm);
}

}  // namespace ayatori::eigen
