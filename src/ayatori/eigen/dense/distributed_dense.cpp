#include "ayatori/eigen/dense/distributed_dense.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::eigen {

namespace {

/// Columns that travel together where a whole matrix passes by.
constexpr std::int64_t panel_columns = 64;

/// The local columns of grid column `part` that are in `wanted`.
template <class T>
Range local_columns(const DenseOf<T>& a, Range wanted, int part) {
  return {a.columns.local_from(wanted.begin, part), a.columns.local_from(wanted.end, part)};
}

void check_finite(const DistributedDense& a, std::string_view name) {
  const std::int64_t rows = a.rows.count();
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    if (std::isfinite(a.values[k])) continue;
    const auto place = static_cast<std::int64_t>(k);
    throw InputError(fmt::format("{}: element ({}, {}) is {}: eigenvalues want finite numbers", name,
                                 a.rows.global(place % rows) + 1, a.columns.global(place / rows) + 1,
                                 a.values[k]));
  }
}

/// The element that differs most from its mirror image.
struct Asymmetry {
  double difference = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  double value = 0;
  double mirrored = 0;
};

/// Compares local rows that are in `wanted` with those columns, which `panel` holds in full.
void compare(const DistributedDense& a, Range wanted, const Array<double>& panel, Asymmetry& worst) {
  const std::int64_t last_row = a.rows.local_from(wanted.end);
  for (std::int64_t l = 0; l < a.columns.count(); ++l) {
    const std::int64_t j = a.columns.global(l);
    for (std::int64_t k = a.rows.local_from(wanted.begin); k < last_row; ++k) {
      const std::int64_t i = a.rows.global(k);
      const double value = a.column(l)[k];
      const double mirrored = panel[(i - wanted.begin) * a.order() + j];
      const double difference = std::abs(value - mirrored);
      if (difference > worst.difference) worst = {difference, i, j, value, mirrored};
    }
  }
}

}  // namespace

template <class T>
DenseOf<T> make_dense(const ProcessGrid& grid, std::int64_t n) {
  return comm::agree(grid.all, [&] {
    if (n < 0 || n > std::numeric_limits<std::int32_t>::max()) {
      throw InputError(fmt::format("a dense matrix of order {}: below 2^31 is possible", n));
    }
    DenseOf<T> a{grid, {n, grid.shape.rows, grid.row}, {n, grid.shape.columns, grid.column}, {}};
    a.values.resize(a.rows.count() * a.columns.count());
    fill(a, [](std::int64_t, std::int64_t) { return T{0}; });
    return a;
  });
}

void add_entries(DistributedDense& a, std::span<const DenseEntry> entries) {
  const int ranks = a.grid.all.size();
  const auto owner = [&](const DenseEntry& entry) {
    return a.rows.owner(entry.row) * a.grid.shape.columns + a.columns.owner(entry.column);
  };
  std::vector<std::int64_t> offsets(ranks + 1, 0);
  for (const DenseEntry& entry : entries) ++offsets[owner(entry) + 1];
  for (int r = 0; r < ranks; ++r) offsets[r + 1] += offsets[r];
  std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
  std::vector<DenseEntry> sorted(entries.size());
  for (const DenseEntry& entry : entries) sorted[next[owner(entry)]++] = entry;
  const auto mine = a.grid.all.alltoallv(std::span<const DenseEntry>(sorted), offsets);
  for (const DenseEntry& entry : mine.values)
    a.column(a.columns.local(entry.column))[a.rows.local(entry.row)] += entry.value;
}

std::int64_t equal_piece(GridShape shape, std::int64_t rows, std::int64_t columns) {
  const auto share = [](std::int64_t count, int parts) { return (count + parts - 1) / parts; };
  const std::int64_t longest = share(rows, shape.rows) * share(columns, shape.columns);
  return longest * shape.rows * shape.columns <= 2 * rows * columns ? longest : 0;
}

template <class T>
Array<T> gather_columns(const DenseOf<T>& a, Range wanted, std::int64_t first_row) {
  const GridShape shape = a.grid.shape;
  const comm::Comm& comm = a.grid.all;
  const int ranks = comm.size();
  const std::int64_t height = a.order() - first_row;
  const Range mine = local_columns(a, wanted, a.grid.column);
  const std::int64_t top = a.rows.local_from(first_row);
  const auto pack = [&](T* next) {
    for (std::int64_t l = mine.begin; l < mine.end; ++l)
      next = std::copy(a.column(l) + top, a.column(l) + a.rows.count(), next);
  };
  Array<T> panel(height * wanted.size());
  if (ranks == 1) {
    pack(panel.data());
    return panel;
  }

  const std::int64_t piece = equal_piece(shape, height, wanted.size());
  std::vector<std::int64_t> counts(ranks);
  std::vector<std::int64_t> displacements(ranks + 1, 0);
  for (int r = 0; r < ranks; ++r) {
    const int row = r / shape.columns;
    counts[r] = (a.rows.count(row) - a.rows.local_from(first_row, row)) *
                local_columns(a, wanted, r % shape.columns).size();
    displacements[r + 1] = displacements[r] + (piece > 0 ? piece : counts[r]);
  }
  const std::int64_t sent = piece > 0 ? piece : counts[comm.rank()];
  Array<T> packed(sent);
  pack(packed.data());
  std::fill(packed.begin() + counts[comm.rank()], packed.end(), T{0});
  Array<T> pieces(displacements.back());
  displacements.pop_back();
  if (piece > 0) {
    comm.collectives().allgather(comm, packed.data(), piece, pieces.data(), comm::data_type_of<T>());
  } else {
    comm.collectives().allgatherv(comm, packed.data(), sent, pieces.data(), counts, displacements,
                                  comm::data_type_of<T>());
  }

  for (int r = 0; r < ranks; ++r) {
    const Range columns = local_columns(a, wanted, r % shape.columns);
    const int row = r / shape.columns;
    const T* next = pieces.data() + displacements[r];
    for (std::int64_t l = columns.begin; l < columns.end; ++l) {
      T* const column =
          panel.data() + (l * shape.columns + r % shape.columns - wanted.begin) * height - first_row;
      for (std::int64_t k = a.rows.local_from(first_row, row); k < a.rows.count(row); ++k)
        column[k * shape.rows + row] = *next++;
    }
  }
  return panel;
}

void put_columns(DistributedDense& a, Range wanted, std::int64_t first_row, std::span<const double> panel) {
  const std::int64_t height = a.order() - first_row;
  const Range mine = local_columns(a, wanted, a.grid.column);
  for (std::int64_t l = mine.begin; l < mine.end; ++l) {
    const double* const source = panel.data() + (a.columns.global(l) - wanted.begin) * height - first_row;
    double* const target = a.column(l);
    for (std::int64_t k = a.rows.local_from(first_row); k < a.rows.count(); ++k)
      target[k] = source[a.rows.global(k)];
  }
}

void mirror_lower(DistributedDense& a) {
  for (std::int64_t begin = 0; begin < a.order(); begin += panel_columns) {
    const Range wanted{begin, std::min(begin + panel_columns, a.order())};
    const Array<double> panel = gather_columns(a, wanted, begin);
    const std::int64_t height = a.order() - begin;
    for (std::int64_t l = a.columns.local_from(begin); l < a.columns.count(); ++l) {
      const std::int64_t j = a.columns.global(l);
      const std::int64_t end = a.rows.local_from(std::min(j, wanted.end));
      for (std::int64_t k = a.rows.local_from(begin); k < end; ++k)
        a.column(l)[k] = panel[(a.rows.global(k) - begin) * height + j - begin];
    }
  }
}

std::vector<double> apply(const DistributedDense& a, Shape shape, Op op, bool absolute,
                          std::span<const double> x) {
  std::vector<double> y(x.size(), 0.0);
  for (std::int64_t l = 0; l < a.columns.count(); ++l) {
    const std::int64_t j = a.columns.global(l);
    const double* const column = a.column(l);
    for (std::int64_t k = shape == Shape::full ? 0 : a.rows.local_from(j); k < a.rows.count(); ++k) {
      const std::int64_t i = a.rows.global(k);
      const double value = absolute ? std::abs(column[k]) : column[k];
      if (op == Op::none) y[i] += value * x[j];
      if (op == Op::transpose || (shape == Shape::symmetric && i != j)) y[j] += value * x[i];
    }
  }
  a.grid.all.allreduce(std::span<double>(y), comm::ReduceOp::sum);
  return y;
}

void check_symmetric(const DistributedDense& a, std::string_view name) {
  comm::agree(a.grid.all, [&] { check_finite(a, name); });
  Asymmetry worst;
  for (std::int64_t begin = 0; begin < a.order(); begin += panel_columns) {
    const Range wanted{begin, std::min(begin + panel_columns, a.order())};
    compare(a, wanted, gather_columns(a, wanted, 0), worst);
  }
  const double tolerance =
      static_cast<double>(a.order()) * std::numeric_limits<double>::epsilon() * max_abs(a);
  // The ranks speak of the same element, where it differs most.
  const double largest = a.grid.all.allreduce(worst.difference, comm::ReduceOp::max);
  comm::agree(a.grid.all, [&] {
    if (largest <= tolerance || worst.difference < largest) return;
    throw InputError(fmt::format(
        "{}: not symmetric: element ({}, {}) is {}, and element ({}, {}) is {}; no other pair differs more",
        name, worst.row + 1, worst.column + 1, worst.value, worst.column + 1, worst.row + 1, worst.mirrored));
  });
}

double max_abs(const DistributedDense& a) {
  const double* const values = a.values.data();
  const auto count = static_cast<std::int64_t>(a.values.size());
  double largest = 0;
#pragma omp simd reduction(max : largest)
  for (std::int64_t k = 0; k < count; ++k) largest = std::max(largest, std::abs(values[k]));
  return a.grid.all.allreduce(largest, comm::ReduceOp::max);
}

double one_norm(const DistributedDense& a) {
  std::vector<double> sums(a.columns.count(), 0.0);
  for (std::int64_t l = 0; l < a.columns.count(); ++l) {
    for (std::int64_t k = 0; k < a.rows.count(); ++k) sums[l] += std::abs(a.column(l)[k]);
  }
  a.grid.along_column.allreduce(std::span<double>(sums), comm::ReduceOp::sum);
  double largest = 0;
  for (const double sum : sums) largest = std::max(largest, sum);
  return a.grid.all.allreduce(largest, comm::ReduceOp::max);
}

template DenseOf<double> make_dense<double>(const ProcessGrid& grid, std::int64_t n);
template DenseOf<float> make_dense<float>(const ProcessGrid& grid, std::int64_t n);
template Array<double> gather_columns(const DenseOf<double>& a, Range wanted, std::int64_t first_row);
template Array<float> gather_columns(const DenseOf<float>& a, Range wanted, std::int64_t first_row);

}  // namespace ayatori::eigen
