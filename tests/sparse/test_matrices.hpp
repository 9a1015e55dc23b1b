#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/sparse/complex_form.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::sparse {

/// A small matrix that every rank knows whole, to compare distributed ones with.
struct TestMatrix {
  std::string name;
  std::int64_t n;
  std::vector<Entry> entries;

  std::vector<double> multiply(const std::vector<double>& x) const {
    std::vector<double> y(n, 0.0);
    for (const Entry& e : entries) y[e.row] += e.value * x[e.column];
    return y;
  }
  /// Collective. Each rank brings every size-th entry, so that almost all have to travel.
  RowBlock distribute(const comm::Comm& comm, const RowPartition& partition) const {
    std::vector<Array<Entry>> batches(2);
    for (std::size_t k = 0; k < entries.size(); ++k) {
      if (static_cast<int>(k) % comm.size() == comm.rank()) batches[k / 7 % 2].push_back(entries[k]);
    }
    return assemble(comm, partition, n, std::move(batches));
  }
  RowBlock distribute(const comm::Comm& comm) const {
    return distribute(comm, RowPartition::even(n, comm.size()));
  }
};

/// Diffusion on a square of n x n points, with these strengths along its lines of consecutive rows and across
/// them.
inline TestMatrix five_point_matrix(std::int64_t n, double along, double across) {
  TestMatrix matrix{"five-point", n * n, {}};
  for (std::int64_t i = 0; i < n * n; ++i) {
    matrix.entries.push_back({i, i, 2 * (along + across)});
    if (i % n > 0) matrix.entries.push_back({i, i - 1, -along});
    if (i % n < n - 1) matrix.entries.push_back({i, i + 1, -along});
    if (i >= n) matrix.entries.push_back({i, i - n, -across});
    if (i < n * n - n) matrix.entries.push_back({i, i + n, -across});
  }
  return matrix;
}

/// The real form of a complex matrix on a square of n x n points: this diagonal, one value for the neighbours
/// before a point and one for those behind it.
inline TestMatrix complex_five_point_matrix(std::int64_t n, Complex diagonal, Complex before,
                                            Complex behind) {
  TestMatrix matrix{"complex five-point", 2 * n * n, {}};
  const auto add = [&](std::int64_t row, std::int64_t column, Complex value) {
    add_real_form(row, column, value, [&](std::int64_t i, std::int64_t j, double part) {
      matrix.entries.push_back({i, j, part});
    });
  };
  for (std::int64_t i = 0; i < n * n; ++i) {
    add(i, i, diagonal);
    if (i % n > 0) add(i, i - 1, before);
    if (i % n < n - 1) add(i, i + 1, behind);
    if (i >= n) add(i, i - n, before);
    if (i < n * n - n) add(i, i + n, behind);
  }
  return matrix;
}

/// Partition of a TestMatrix in real form: both rows of a pair on one rank.
inline RowPartition even_pairs(const TestMatrix& matrix, int ranks) {
  return of_pairs(RowPartition::even(matrix.n / 2, ranks));
}

inline double test_value(std::uint64_t seed, std::int64_t k) {
  return 2 * random_uniform(seed, static_cast<std::uint64_t>(k)) - 1;
}

inline TestMatrix random_matrix(std::int64_t n, int per_row, std::uint64_t seed) {
  TestMatrix m{"random", n, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    m.entries.push_back({i, i, 4 + test_value(seed, i)});
    for (int k = 1; k < per_row; ++k) {
      const auto column =
          static_cast<std::int64_t>(random_bits(seed, static_cast<std::uint64_t>(i * per_row + k)) % n);
      m.entries.push_back({i, column, test_value(seed + 1, i * per_row + k)});
    }
  }
  return m;
}

inline TestMatrix empty_rows_matrix(std::int64_t n) {
  TestMatrix m{"empty rows", n, {}};
  for (std::int64_t i = 0; i < n; i += 3) {
    m.entries.push_back({i, (i * 5) % n, test_value(3, i)});
    m.entries.push_back({i, i, 2.0});
  }
  return m;
}

inline TestMatrix dense_row_matrix(std::int64_t n) {
  TestMatrix m{"dense row and column", n, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    m.entries.push_back({n / 2, i, test_value(4, i)});
    m.entries.push_back({i, n / 3, test_value(5, i)});
    m.entries.push_back({i, i, 10.0});
  }
  return m;
}

inline TestMatrix tridiagonal_matrix(std::int64_t n) {
  TestMatrix m{"tridiagonal", n, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    m.entries.push_back({i, i, 2});
    if (i > 0) m.entries.push_back({i, i - 1, -1});
    if (i + 1 < n) m.entries.push_back({i, i + 1, -1});
  }
  return m;
}

inline TestMatrix zero_matrix(std::int64_t n) {
  return {"no entries", n, {}};
}

/// The shapes that partitions and halos have to survive; `ranks` gives those with one row per rank and with
/// fewer rows.
inline std::vector<TestMatrix> awkward_matrices(int ranks) {
  std::vector<TestMatrix> list{random_matrix(101, 6, 1),  random_matrix(3000, 5, 2), empty_rows_matrix(50),
                               dense_row_matrix(77),      tridiagonal_matrix(40),    zero_matrix(9),
                               tridiagonal_matrix(ranks), tridiagonal_matrix(1),     random_matrix(2, 2, 9)};
  if (ranks > 1) list.push_back(random_matrix(ranks - 1, 2, 7));
  return list;
}

inline std::vector<double> test_vector(std::int64_t n, std::uint64_t seed) {
  std::vector<double> x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = test_value(seed, i);
  return x;
}

/// This rank's piece of a vector that every rank knows.
inline Array<double> piece(const std::vector<double>& all, Range range) {
  return {all.begin() + range.begin, all.begin() + range.end};
}

}  // namespace ayatori::sparse
