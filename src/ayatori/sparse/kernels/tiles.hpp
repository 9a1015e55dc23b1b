#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/sparse/csr.hpp"
#include "ayatori/sparse/kernels/kernels.hpp"
#include "ayatori/sparse/kernels/thread_groups.hpp"
#include "ayatori/sparse/pattern/pattern.hpp"

// Tiles: a window of rows by a block of columns. A thread goes through all its windows of one block before
// the next block, so that the block's elements of x stay in the first cache however far apart the columns
// of a row are; in the second cache if so few entries of a row fall into a block that slices of one or two
// steps would be most of the work. Columns within a block take 16 bits, rows within a window 8.

namespace ayatori::sparse {

/// Which entries a format by tiles holds, how many rows are multiplied side by side, and how wide tiles are.
struct TileForm {
  int lanes;
  bool lower;  ///< only those left of the diagonal
  std::int32_t columns = tile_columns;
};
inline constexpr TileForm whole_form{8, false};
inline constexpr TileForm lower_form{4, true};

/// The entries of a row in one tile.
struct TileSegment {
  std::int64_t first;   ///< position in Csr::column and Csr::value
  std::int32_t block;   ///< block of columns
  std::int32_t window;  ///< window of rows
  std::int32_t length;
  std::int32_t row;

  bool same_tile(const TileSegment& other) const { return block == other.block && window == other.window; }
};

/// Finds the segments of some rows, which begin with a window, for some blocks of columns after the other:
/// what is held at once is small beside a large matrix.
class SegmentFinder {
 public:
  SegmentFinder(const Csr& matrix, Range rows, const TileForm& form);

  /// Those of the next blocks: by block, then window, then the longest first. False if no block is left.
  bool find_next();
  std::span<const TileSegment> segments() const { return segments_; }

 private:
  void sort_by_block();

  const Csr& matrix_;
  Range rows_;
  TileForm form_;
  std::int32_t blocks_;
  std::int32_t blocks_of_turn_;
  std::int32_t first_block_ = 0;  // first block of this turn
  std::int32_t next_block_ = 0;
  std::vector<std::int64_t> next_;  // entry of each row
  std::vector<TileSegment> segments_;
  std::vector<TileSegment> sorted_;
};

/// Calls slice(segments) for every `width` segments of a tile that follow each other, the last of a tile
/// being fewer.
template <class Slice>
void for_each_slice(std::span<const TileSegment> segments, int width, Slice&& slice) {
  for (std::size_t begin = 0; begin < segments.size();) {
    std::size_t end = begin + 1;
    while (end < segments.size() && end < begin + width && segments[end].same_tile(segments[begin])) ++end;
    slice(segments.subspan(begin, end - begin));
    begin = end;
  }
}

/// Tiles, slices and places for entries of these segments.
TileCounts count_tiles(std::span<const TileSegment> segments, int width);

/// Those of rows that begin with a window.
TileCounts count_tiles(const Csr& matrix, Range rows, const TileForm& form);

/// The form with wide tiles where narrow ones, which `counts` are of, have slices of less than two steps on
/// average; otherwise the form itself.
TileForm widened_if_short(TileForm form, const TileCounts& counts, std::int32_t columns);

/// Bytes that a product reads.
std::int64_t bytes_of(const TileCounts& counts, int width, std::int64_t value_bytes = 8);

/// Where the slices of a tile are.
struct Tile {
  std::int32_t block;
  std::int32_t window;
  std::int32_t slices;
};

/// A thread's part of a matrix. A slice of `width` segments is stored step by step: the first entry of each
/// segment, then the second. Where a segment has ended, the value is 0 and the column TileForm::columns,
/// which is none of the matrix: what a product finds there must be finite, and no other element of x is
/// touched.
template <class Real>
struct TilesOf {
  std::vector<Tile> tile;
  Array<std::uint16_t> steps;   ///< steps of each slice
  Array<std::uint8_t> row;      ///< row of each lane of a slice, from the window's first
  Array<std::uint16_t> column;  ///< column of each lane of a step, from the block's first
  Array<Real> value;

  TilesOf() = default;
  /// Tiles of `scale` times rows that begin with a window, for which count_tiles() has given `counts`.
  TilesOf(const Csr& matrix, double scale, Range rows, const TileForm& form, const TileCounts& counts);

 private:
  /// Where the next slice goes.
  struct End {
    std::int64_t slice = 0;
    std::int64_t place = 0;
  };
  void append(const Csr& matrix, double scale, std::span<const TileSegment> segments, const TileForm& form,
              End& end);
};

/// A matrix by tiles, for threads: whole windows of nearly equal numbers of entries.
template <class Real>
class TiledMatrix {
 public:
  /// Tiles of scale A. Throws InputError if it takes absurdly many bytes.
  TiledMatrix(const Csr& matrix, double scale, const TileForm& narrow, std::string_view name);

  std::int32_t tile_columns() const { return form_.columns; }
  int size() const { return groups_.size(); }
  const TilesOf<Real>& operator[](int group) const { return tiles_[group]; }
  /// Calls f(group, its rows) on the thread of every group. It must not throw.
  template <class F>
  void for_each(F&& f) const {
    groups_.for_each([&](int group, Range) { f(group, rows(group)); });
  }
  Range rows(int group) const {
    return {std::min(groups_[group].begin * tile_rows, rows_),
            std::min(groups_[group].end * tile_rows, rows_)};
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t rows_;
  ThreadGroups groups_;  // groups of windows
  std::vector<TilesOf<Real>> tiles_;
  TileForm form_;
  std::int64_t bytes_ = 0;

  std::vector<TileCounts> count(const Csr& matrix, const TileForm& form) const;
};

extern template struct TilesOf<double>;
extern template struct TilesOf<float>;
extern template class TiledMatrix<double>;
extern template class TiledMatrix<float>;

/// Four columns by one load.
class FourColumns {
 public:
  [[gnu::always_inline]] explicit FourColumns(const std::uint16_t* from) {
    std::memcpy(&bits_, from, sizeof bits_);
  }
  [[gnu::always_inline]] std::uint64_t operator[](int i) const {
    const int place = std::endian::native == std::endian::little ? i : 3 - i;
    return bits_ >> (16 * place) & 0xffffU;
  }

 private:
  std::uint64_t bits_;
};

/// Asks for the entries a few steps ahead: the hardware's own looking ahead stops at the end of every page.
template <int Lanes, class Real>
[[gnu::always_inline]] inline void prefetch_entries(const Real* value, const std::uint16_t* column) {
  constexpr std::ptrdiff_t ahead = 256;  // entries; beyond the end is allowed, nothing is loaded there
  constexpr std::ptrdiff_t per_line = 64 / sizeof(Real);
  for (std::ptrdiff_t k = 0; k < Lanes; k += per_line) __builtin_prefetch(value + ahead + k);
  __builtin_prefetch(column + ahead);
}

}  // namespace ayatori::sparse
