#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "ayatori/sparse/csr.hpp"
#include "ayatori/sparse/pattern/pattern.hpp"

// The pieces that formats with explicit zeros cut a matrix into, found the same way when they are counted and
// when they are stored.

namespace ayatori::sparse {

/// Rows of a slice: doubles of the widest vector register in use.
inline constexpr int lanes = 8;

/// An entry of one of several neighbouring rows.
struct RowEntry {
  int lane;               ///< its row, counted from the first of them
  std::int64_t position;  ///< in Csr::column and Csr::value
};

/// Walks through `Rows` rows at once (fewer at the end of the matrix), from the first column to the last, and
/// calls group(key, entries) for all entries with the same key(lane, column), which must ascend along every
/// row and be shared by at most PerRow entries of a row. Keys ascend.
template <int Rows, int PerRow, class Key, class Group>
void merge_rows(const Csr& matrix, std::int64_t first_row, Key&& key, Group&& group) {
  constexpr std::int64_t done = std::numeric_limits<std::int64_t>::max();
  const int count = static_cast<int>(std::min<std::int64_t>(Rows, matrix.rows - first_row));
  const std::int32_t* column = matrix.column.data();
  std::int64_t next[Rows] = {};
  std::int64_t end[Rows] = {};
  std::int64_t next_key[Rows];
  const auto look = [&](int lane) {
    next_key[lane] = next[lane] < end[lane] ? key(lane, column[next[lane]]) : done;
  };
  for (int lane = 0; lane < Rows; ++lane) {
    if (lane < count) {
      next[lane] = matrix.row_start[first_row + lane];
      end[lane] = matrix.row_start[first_row + lane + 1];
    }
    look(lane);
  }
  RowEntry entries[Rows * PerRow];
  for (;;) {
    std::int64_t smallest = done;
    for (int lane = 0; lane < Rows; ++lane) smallest = std::min(smallest, next_key[lane]);
    if (smallest == done) return;
    int size = 0;
    for (int lane = 0; lane < Rows; ++lane) {
      while (next_key[lane] == smallest) {
        entries[size++] = {lane, next[lane]++};
        look(lane);
      }
    }
    group(smallest, std::span<const RowEntry>(entries, size));
  }
}

/// Calls block(block column, entries) for every aligned Size x Size block of a row of blocks that has
/// entries.
template <int Size, class Block>
void for_each_block(const Csr& matrix, std::int64_t first_row, Block&& block) {
  merge_rows<Size, Size>(
      matrix, first_row, [](int, std::int32_t column) { return std::int64_t{column / Size}; }, block);
}

/// Calls diagonal(c, entries) for every diagonal on which a slice has entries: that of lane r is in column
/// c + r.
template <class Diagonal>
void for_each_diagonal(const Csr& matrix, std::int64_t first_row, Diagonal&& diagonal) {
  merge_rows<lanes, 1>(
      matrix, first_row, [](int lane, std::int32_t column) { return std::int64_t{column} - lane; }, diagonal);
}

/// Whether a diagonal of a slice is stored as a run: it is filled well enough, and x may be read all along
/// it.
inline bool is_run(const Csr& matrix, std::int64_t first_column, std::span<const RowEntry> entries) {
  return entries.size() >= least_run && first_column >= 0 && first_column + lanes <= matrix.columns;
}

}  // namespace ayatori::sparse
