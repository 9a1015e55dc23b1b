#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/sparse/csr.hpp"
#include "test_matrices.hpp"

namespace ayatori::sparse {

/// A matrix of one rank; entries in any order, each once.
inline Csr csr(std::int32_t rows, std::int32_t columns, std::vector<Entry> entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  });
  const auto repeated = [](const Entry& a, const Entry& b) { return a.row == b.row && a.column == b.column; };
  entries.erase(std::unique(entries.begin(), entries.end(), repeated), entries.end());
  Csr matrix{rows, columns, Array<std::int64_t>(rows + 1, 0), {}, {}};
  for (const Entry& e : entries) {
    ++matrix.row_start[e.row + 1];
    matrix.column.push_back(static_cast<std::int32_t>(e.column));
    matrix.value.push_back(e.value);
  }
  for (std::int32_t i = 0; i < rows; ++i) matrix.row_start[i + 1] += matrix.row_start[i];
  return matrix;
}

/// The 5-point stencil on an n x n grid, symmetric, with varying values.
inline Csr stencil_5(std::int64_t n) {
  std::vector<Entry> entries;
  const auto couple = [&](std::int64_t i, std::int64_t j) {
    const double value = test_value(1, i * 5 + j);
    entries.push_back({i, j, value});
    entries.push_back({j, i, value});
  };
  for (std::int64_t i = 0; i < n * n; ++i) {
    entries.push_back({i, i, 4});
    if (i % n + 1 < n) couple(i, i + 1);
    if (i + n < n * n) couple(i, i + n);
  }
  return csr(static_cast<std::int32_t>(n * n), static_cast<std::int32_t>(n * n), std::move(entries));
}

/// Each place holds an entry with this probability.
inline Csr random_csr(std::int32_t rows, std::int32_t columns, double density, std::uint64_t seed) {
  std::vector<Entry> entries;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      if (random_uniform(seed, static_cast<std::uint64_t>(i * columns + j)) < density)
        entries.push_back({i, j, test_value(seed + 1, i * columns + j)});
    }
  }
  return csr(rows, columns, std::move(entries));
}

/// Symmetric, with entries at this many random places below the diagonal and their images, and a diagonal of
/// which every fifth entry is missing.
inline Csr random_symmetric_csr(std::int32_t n, std::int64_t below, std::uint64_t seed) {
  std::vector<Entry> entries;
  for (std::int64_t i = 0; i < n; ++i) {
    if (i % 5 != 0) entries.push_back({i, i, test_value(seed, i)});
  }
  for (std::int64_t k = 0; k < below; ++k) {
    const auto draw = [&](std::int64_t which) {
      return static_cast<std::int64_t>(random_bits(seed, static_cast<std::uint64_t>(2 * k + which)) %
                                       static_cast<std::uint64_t>(n));
    };
    const auto [j, i] = std::minmax({draw(0), draw(1)});
    if (i == j) continue;
    const double value = test_value(seed, i * n + j);
    entries.push_back({i, j, value});
    entries.push_back({j, i, value});
  }
  return csr(n, n, std::move(entries));
}

/// Dense Size x Size blocks on three block diagonals, cut off at `rows` and `columns`.
inline Csr block_csr(std::int32_t rows, std::int32_t columns, std::int64_t size) {
  std::vector<Entry> entries;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t block = i / size * size;
    for (std::int64_t j = block - size; j < block + 2 * size; ++j) {
      if (j >= 0 && j < columns) entries.push_back({i, j, test_value(6, i * columns + j)});
    }
  }
  return csr(rows, columns, std::move(entries));
}

/// The real form of a complex matrix.
inline Csr complex_csr(std::int64_t n) {
  const auto matrix = complex_five_point_matrix(n, {4, 0.5}, {-1, 0.25}, {-1.5, -2});
  return csr(static_cast<std::int32_t>(matrix.n), static_cast<std::int32_t>(matrix.n), matrix.entries);
}

struct NamedCsr {
  std::string name;
  Csr matrix;
};

/// The shapes that kernels have to survive.
inline std::vector<NamedCsr> awkward_csr() {
  std::vector<NamedCsr> list;
  const auto add = [&](const std::string& name, Csr matrix) { list.push_back({name, std::move(matrix)}); };
  for (const std::int32_t rows : {0, 1, 2, 3, 5, 7, 8, 9, 17}) {
    for (const std::int32_t columns : {0, 1, 2, 3, 4, 5, 7, 8, 9, 23})
      add("random", random_csr(rows, columns, 0.5, static_cast<std::uint64_t>(100 * rows + columns)));
  }
  add("random, wide", random_csr(60, 300, 0.1, 1));
  add("random, tall", random_csr(300, 60, 0.1, 2));
  add("random, large", random_csr(1500, 1400, 0.02, 3));
  add("no entries", csr(100, 100, {}));
  add("stencil", stencil_5(37));
  add("stencil of whole slices", stencil_5(64));
  for (const std::int64_t size : {2, 3, 4}) {
    for (const std::int32_t n : {600, 601, 602, 603}) add("blocks", block_csr(n, n, size));
    add("wide blocks", block_csr(400, 403, size));
    add("tall blocks", block_csr(403, 400, size));
  }
  std::vector<Entry> arrow;
  for (std::int64_t i = 0; i < 3000; ++i) {
    arrow.push_back({i, i, 10});
    if (i != 1000) arrow.push_back({1000, i, test_value(4, i)});
    if (i != 1000) arrow.push_back({i, 1000, test_value(4, i)});
  }
  add("dense row and column, symmetric", csr(3000, 3000, arrow));
  add("random, symmetric, of several tiles", random_symmetric_csr(2300, 9000, 7));
  std::vector<Entry> gaps;
  for (std::int64_t i = 0; i < 5000; i += 7) gaps.push_back({i, i * 3, 1.5});
  add("empty rows", csr(5000, 15000, gaps));
  std::vector<Entry> far;
  for (std::int64_t i = 0; i < 3000; ++i) {
    far.push_back({i, i, 2});
    far.push_back({i, i + 65536, -1});
  }
  add("complex", complex_csr(9));
  add("complex, large", complex_csr(40));
  Csr wide = complex_csr(12);
  wide.columns += 6;
  add("complex, wide", std::move(wide));
  add("gaps beyond 16 bits", csr(3000, 70000, far));
  return list;
}

}  // namespace ayatori::sparse
