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

  std::int32_t rows = 0;     ///< rows of blocks
  std::int32_t columns = 0;  ///< columns of blocks
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

/// A matrix whose rows threads make: fill(range, piece, length) makes those of a range and tells the length
/// of row i in length[i].
template <int B, class V, class Fill>
BlockCsr<B, V> join_pieces(std::int32_t rows, std::int32_t columns, Fill&& fill) {
  constexpr int bb = B * B;
  BlockCsr<B, V> c{rows, columns, Array<std::int64_t>(std::size_t(rows) + 1), {}, {}};
  c.row_start[0] = 0;
  std::vector<RowPiece<V>> pieces(threads_for(rows));
  FirstException exception;
  const auto parts = static_cast<int>(pieces.size());
#pragma omp parallel for schedule(static, 1) num_threads(parts) if (parts > 1)
  for (int t = 0; t < parts; ++t) {
    exception.guard([&] {
      pieces[t].rows = split_evenly(rows, parts, t);
      fill(pieces[t], c.row_start.data() + 1);
    });
  }
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

/// A matrix whose rows are made one after the other: make(row, append), where append(column) gives the
/// block of a column, zeroed at its first use in the row. `longest(row)` bounds the number of calls.
/// Columns stand in the order of their first use. With ColumnsRepeat false no column comes twice in a row.
template <int B, class V = double, bool ColumnsRepeat = true, class Longest, class Make>
BlockCsr<B, V> build_rows(std::int32_t rows, std::int32_t columns, Longest&& longest, Make&& make) {
  constexpr int bb = B * B;
  return join_pieces<B, V>(rows, columns, [&](RowPiece<V>& piece, std::int64_t* length) {
    std::int64_t most = 0;
    for (std::int64_t i = piece.rows.begin; i < piece.rows.end; ++i) most += longest(i);
    piece.column.resize(most);
    piece.value.resize(most * bb);
    Array<std::int64_t> place;
    if constexpr (ColumnsRepeat) place.assign(columns, -1);
    std::int64_t end = 0;
    for (std::int64_t i = piece.rows.begin; i < piece.rows.end; ++i) {
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
      length[i] = end - begin;
    }
    piece.column.resize(end);
    piece.value.resize(end * bb);
  });
}

/// Room for this many columns and their blocks of `entries` values, and for some more.
inline void make_room(Array<std::int32_t>& column, Array<double>& value, std::int64_t most, int entries) {
  const auto room = static_cast<std::int64_t>(column.size());
  if (room >= most) return;
  column.resize(std::max(2 * room, most));
  value.resize(column.size() * entries);
}

/// r a p, each row as (row of r a) p (Gustavson 1978), so that nothing of the size of a comes in between.
/// Columns of a row come unsorted. Precondition: r.columns == a.rows, a.columns == p.rows.
template <int B, class V>
BlockCsr<B> triple_product(const BlockCsr<B, V>& r, const BlockCsr<B>& a, const BlockCsr<B, V>& p) {
  constexpr int bb = B * B;
  constexpr std::int32_t none = -1;
  return join_pieces<B, double>(r.rows, p.columns, [&](RowPiece<double>& piece, std::int64_t* length) {
    Array<std::int32_t> place_between(a.columns, none);
    Array<std::int32_t> between;
    Array<double> value_between;
    Array<std::int64_t> place(p.columns, none);
    // A coarse matrix has hardly more blocks; room that is not used is never touched.
    const std::int64_t guess = a.blocks() / threads_for(r.rows);
    piece.column.reserve(guess);
    piece.value.reserve(guess * bb);
    std::int64_t end = 0;
    for (std::int64_t i = piece.rows.begin; i < piece.rows.end; ++i) {
      std::int64_t most = 0;
      for (std::int64_t k = r.row_start[i]; k < r.row_start[i + 1]; ++k)
        most += a.row_start[r.column[k] + 1] - a.row_start[r.column[k]];
      make_room(between, value_between, most, bb);
      std::int32_t count = 0;
      for (std::int64_t k = r.row_start[i]; k < r.row_start[i + 1]; ++k) {
        const V* factor = r.block(k);
        const std::int64_t row_end = a.row_start[r.column[k] + 1];
        for (std::int64_t l = a.row_start[r.column[k]]; l < row_end; ++l) {
          const std::int32_t j = a.column[l];
          std::int32_t at = place_between[j];
          if (at == none) {
            at = place_between[j] = count;
            between[count] = j;
            std::fill_n(&value_between[std::int64_t{count++} * bb], bb, 0.0);
          }
          add_product<B>(factor, a.block(l), &value_between[std::int64_t{at} * bb]);
        }
      }
      most = end;
      for (std::int32_t m = 0; m < count; ++m) most += p.row_start[between[m] + 1] - p.row_start[between[m]];
      make_room(piece.column, piece.value, most, bb);
      const std::int64_t begin = end;
      for (std::int32_t m = 0; m < count; ++m) {
        const std::int32_t j = between[m];
        place_between[j] = none;
        const double* factor = &value_between[std::int64_t{m} * bb];
        const std::int64_t row_end = p.row_start[j + 1];
        for (std::int64_t l = p.row_start[j]; l < row_end; ++l) {
          std::int64_t at = place[p.column[l]];
          if (at < begin) {
            at = place[p.column[l]] = end;
            piece.column[end] = p.column[l];
            std::fill_n(&piece.value[end++ * bb], bb, 0.0);
          }
          add_product<B>(factor, p.block(l), &piece.value[at * bb]);
        }
      }
      length[i] = end - begin;
    }
    piece.column.resize(end);
    piece.value.resize(end * bb);
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
