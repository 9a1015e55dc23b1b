#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"

// Sparse matrices of small dense blocks on one rank, as the set-up of multigrid multiplies them.

namespace ayatori::solvers::amg {

/// Compressed sparse rows of B x B blocks of type V: B unknowns per node. A block is stored by rows.
template <int B, class V = double>
struct BlockCsr {
  static constexpr int block_entries = B * B;

  std::int32_t rows = 0;     ///< of blocks
  std::int32_t columns = 0;  ///< of blocks
  Array<std::int64_t> row_start;
  Array<std::int32_t> column;
  Array<V> value;  ///< B B for each entry of `column`

  std::int64_t blocks() const { return static_cast<std::int64_t>(column.size()); }
  const V* block(std::int64_t k) const { return value.data() + k * block_entries; }
  V* block(std::int64_t k) { return value.data() + k * block_entries; }
};

/// c += a b
template <int B, class U, class V, class W>
[[gnu::always_inline]] inline void add_product(const U* a, const V* b, W* c) {
  for (int i = 0; i < B; ++i)
    for (int k = 0; k < B; ++k)
      for (int j = 0; j < B; ++j)
        c[i * B + j] += static_cast<W>(static_cast<double>(a[i * B + k]) * static_cast<double>(b[k * B + j]));
}

/// Rows made by one thread, to be put behind each other.
template <class V>
struct RowPiece {
  Range rows;
  Array<std::int32_t> column;
  Array<V> value;
};

/// A matrix whose rows threads make one after the other: make(row, append), where append(column) gives the
/// block of a column, zeroed at its first use in the row. `longest(row)` bounds the number of calls.
/// Columns stand in the order of their first use. With ColumnsRepeat false no column comes twice in a row.
template <int B, class V = double, bool ColumnsRepeat = true, class Longest, class Make>
BlockCsr<B, V> build_rows(std::int32_t rows, std::int32_t columns, Longest&& longest, Make&& make) {
  constexpr int bb = B * B;
  BlockCsr<B, V> c{rows, columns, Array<std::int64_t>(std::size_t(rows) + 1), {}, {}};
  c.row_start[0] = 0;
  std::vector<RowPiece<V>> pieces(threads_for(rows));
  FirstException exception;
  const auto fill = [&](Range range, RowPiece<V>& piece) {
    std::int64_t most = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) most += longest(i);
    piece.rows = range;
    piece.column.resize(most);
    piece.value.resize(most * bb);
    Array<std::int64_t> place;
    if constexpr (ColumnsRepeat) place.assign(columns, -1);
    std::int64_t end = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::int64_t begin = end;
      make(
          i, [&](std::int32_t j) __attribute__((always_inline)) {
            if constexpr (ColumnsRepeat) {
              if (place[j] >= begin) return &piece.value[place[j] * bb];
              place[j] = end;
            }
            piece.column[end] = j;
            std::fill_n(&piece.value[end * bb], bb, V{});
            return &piece.value[end++ * bb];
          });
      c.row_start[i + 1] = end - begin;
    }
    piece.column.resize(end);
    piece.value.resize(end * bb);
  };
  const auto parts = static_cast<int>(pieces.size());
#pragma omp parallel for schedule(static, 1) num_threads(parts) if (parts > 1)
  for (int t = 0; t < parts; ++t) exception.guard([&] { fill(split_evenly(rows, parts, t), pieces[t]); });
  exception.rethrow();
  std::partial_sum(c.row_start.begin(), c.row_start.end(), c.row_start.begin());
  if (parts == 1) {
    c.column = std::move(pieces[0].column);
    c.value = std::move(pieces[0].value);
    return c;
  }
  c.column.resize(c.row_start.back());
  c.value.resize(c.row_start.back() * bb);
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int t = 0; t < parts; ++t) {
    const std::int64_t first = c.row_start[pieces[t].rows.begin];
    std::ranges::copy(pieces[t].column, c.column.begin() + first);
    std::ranges::copy(pieces[t].value, c.value.begin() + first * bb);
  }
  return c;
}

/// a b (Gustavson 1978). Columns of a row come unsorted. Precondition: a.columns == b.rows.
template <int B, class U, class V>
BlockCsr<B> multiply(const BlockCsr<B, U>& a, const BlockCsr<B, V>& b) {
  const auto longest = [&](std::int64_t i) {
    std::int64_t sum = 0;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      sum += b.row_start[a.column[k] + 1] - b.row_start[a.column[k]];
    return std::min<std::int64_t>(sum, b.columns);
  };
  return build_rows<B>(a.rows, b.columns, longest, [&](std::int64_t i, auto&& append) {
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const std::int32_t j = a.column[k];
      const U* factor = a.block(k);
      for (std::int64_t l = b.row_start[j]; l < b.row_start[j + 1]; ++l)
        add_product<B>(factor, b.block(l), append(b.column[l]));
    }
  });
}

/// The transposed matrix, blocks transposed as well; columns of its rows ascend.
template <int B, class V>
BlockCsr<B, V> transpose(const BlockCsr<B, V>& a) {
  BlockCsr<B, V> t{a.columns, a.rows, Array<std::int64_t>(std::size_t(a.columns) + 1, 0),
                   Array<std::int32_t>(a.column.size()), Array<V>(a.value.size())};
  const int parts = threads_for(a.rows);
  // How many entries of a column each thread's rows have, then where they go.
  std::vector<Array<std::int64_t>> next(parts);
  FirstException exception;
#pragma omp parallel for schedule(static, 1) num_threads(parts) if (parts > 1)
  for (int p = 0; p < parts; ++p) {
    exception.guard([&] {
      next[p].assign(a.columns, 0);
      const Range rows = split_evenly(a.rows, parts, p);
      for (std::int64_t k = a.row_start[rows.begin]; k < a.row_start[rows.end]; ++k) ++next[p][a.column[k]];
    });
  }
  exception.rethrow();
  std::int64_t position = 0;
  for (std::int32_t j = 0; j < a.columns; ++j) {
    for (int p = 0; p < parts; ++p) position += std::exchange(next[p][j], position);
    t.row_start[j + 1] = position;
  }
#pragma omp parallel for schedule(static, 1) num_threads(parts) if (parts > 1)
  for (int p = 0; p < parts; ++p) {
    const Range rows = split_evenly(a.rows, parts, p);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
        const std::int64_t to = next[p][a.column[k]]++;
        t.column[to] = static_cast<std::int32_t>(i);
        const V* from = a.block(k);
        V* into = t.block(to);
        for (int r = 0; r < B; ++r)
          for (int c = 0; c < B; ++c) into[c * B + r] = from[r * B + c];
      }
    }
  }
  return t;
}

}  // namespace ayatori::solvers::amg
