#include "ayatori/sparse/kernels/tiles.hpp"

#include <numeric>

namespace ayatori::sparse {

namespace {

std::int64_t windows_of(std::int64_t rows) {
  return (rows + tile_rows - 1) / tile_rows;
}

/// Where the entries of row i that a form holds end.
std::int64_t end_of_row(const Csr& matrix, std::int64_t i, bool lower) {
  const std::int64_t end = matrix.row_start[i + 1];
  if (!lower) return end;
  const auto column = matrix.column.begin();
  return std::lower_bound(column + matrix.row_start[i], column + end, static_cast<std::int32_t>(i)) - column;
}

/// Entries in front of each window, and all.
std::vector<std::int64_t> starts_of_windows(const Csr& matrix, bool lower) {
  std::vector<std::int64_t> counts(windows_of(matrix.rows));
  parallel_for(static_cast<std::int64_t>(counts.size()), [&](std::int64_t w) {
    const std::int64_t end = std::min<std::int64_t>((w + 1) * tile_rows, matrix.rows);
    for (std::int64_t i = w * tile_rows; i < end; ++i)
      counts[w] += end_of_row(matrix, i, lower) - matrix.row_start[i];
  });
  return starts_of(counts);
}

}  // namespace

SegmentFinder::SegmentFinder(const Csr& matrix, Range rows, const TileForm& form)
    : matrix_(matrix),
      rows_(rows),
      form_(form),
      blocks_((matrix.columns + form.columns - 1) / form.columns),
      next_(matrix.row_start.begin() + rows.begin, matrix.row_start.begin() + rows.end) {
  constexpr std::int64_t entries_of_turn = 1 << 20;
  const std::int64_t entries = matrix.row_start[rows.end] - matrix.row_start[rows.begin];
  const std::int64_t turns = entries / entries_of_turn + 1;
  blocks_of_turn_ = static_cast<std::int32_t>((blocks_ + turns - 1) / turns);
}

bool SegmentFinder::find_next() {
  if (next_block_ == blocks_) return false;
  first_block_ = next_block_;
  next_block_ = std::min(next_block_ + blocks_of_turn_, blocks_);
  const std::int64_t end_column = std::int64_t{next_block_} * form_.columns;
  segments_.clear();
  for (std::int64_t i = rows_.begin; i < rows_.end; ++i) {
    const std::int64_t bound = form_.lower ? std::min(end_column, i) : end_column;
    std::int64_t& k = next_[i - rows_.begin];
    while (k < matrix_.row_start[i + 1] && matrix_.column[k] < bound) {
      const std::int64_t first = k;
      const std::int32_t block = matrix_.column[k] / form_.columns;
      const std::int64_t end = std::min(bound, (std::int64_t{block} + 1) * form_.columns);
      while (k < matrix_.row_start[i + 1] && matrix_.column[k] < end) ++k;
      segments_.push_back({first, block, static_cast<std::int32_t>(i / tile_rows),
                           static_cast<std::int32_t>(k - first), static_cast<std::int32_t>(i)});
    }
  }
  sort_by_block();
  for (auto begin = segments_.begin(); begin != segments_.end();) {
    const auto end = std::find_if_not(begin, segments_.end(),
                                      [&](const TileSegment& segment) { return segment.same_tile(*begin); });
    const auto is_longer = [](const TileSegment& a, const TileSegment& b) { return a.length > b.length; };
    if (!std::is_sorted(begin, end, is_longer)) std::stable_sort(begin, end, is_longer);
    begin = end;
  }
  return true;
}

/// Rows, and so windows, ascend already.
void SegmentFinder::sort_by_block() {
  std::vector<std::int64_t> place(next_block_ - first_block_ + 1);
  for (const TileSegment& segment : segments_) ++place[segment.block - first_block_ + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  sorted_.resize(segments_.size());
  for (const TileSegment& segment : segments_) sorted_[place[segment.block - first_block_]++] = segment;
  segments_.swap(sorted_);
}

TileCounts count_tiles(std::span<const TileSegment> segments, int width) {
  TileCounts counts;
  const TileSegment* before = nullptr;
  for_each_slice(segments, width, [&](std::span<const TileSegment> slice) {
    if (before == nullptr || !slice.front().same_tile(*before)) ++counts.tiles;
    ++counts.slices;
    counts.places += std::int64_t{width} * slice.front().length;
    before = slice.data();
  });
  return counts;
}

TileCounts count_tiles(const Csr& matrix, Range rows, const TileForm& form) {
  TileCounts counts;
  for (SegmentFinder finder(matrix, rows, form); finder.find_next();)
    counts.add(count_tiles(finder.segments(), form.lanes));
  return counts;
}

TileForm widened_if_short(TileForm form, const TileCounts& counts, std::int32_t columns) {
  if (columns > form.columns && counts.places < 2LL * form.lanes * counts.slices)
    form.columns = wide_tile_columns;
  return form;
}

std::int64_t bytes_of(const TileCounts& counts, int width, std::int64_t value_bytes) {
  constexpr std::int64_t tile_bytes = sizeof(Tile);
  return tile_bytes * counts.tiles + (2 + width) * counts.slices + (2 + value_bytes) * counts.places;
}

template <class Real>
TilesOf<Real>::TilesOf(const Csr& matrix, double scale, Range rows, const TileForm& form,
                       const TileCounts& counts) {
  tile.reserve(counts.tiles);
  steps.resize(counts.slices);
  row.resize(counts.slices * form.lanes);
  column.resize(counts.places);
  value.resize(counts.places);
  End end;
  for (SegmentFinder finder(matrix, rows, form); finder.find_next();)
    append(matrix, scale, finder.segments(), form, end);
}

template <class Real>
void TilesOf<Real>::append(const Csr& matrix, double scale, std::span<const TileSegment> segments,
                           const TileForm& form, End& end) {
  const int width = form.lanes;
  for_each_slice(segments, width, [&](std::span<const TileSegment> slice) {
    const TileSegment& longest = slice.front();
    if (tile.empty() || tile.back().block != longest.block || tile.back().window != longest.window)
      tile.push_back({longest.block, longest.window, 0});
    ++tile.back().slices;
    for (int lane = 0; lane < width; ++lane) {
      const bool exists = lane < static_cast<int>(slice.size());
      const TileSegment& segment = exists ? slice[lane] : longest;
      const int length = exists ? segment.length : 0;
      row[end.slice * width + lane] = static_cast<std::uint8_t>(segment.row % tile_rows);
      for (int step = 0; step < longest.length; ++step) {
        const std::int64_t to = end.place + std::int64_t{step} * width + lane;
        column[to] = static_cast<std::uint16_t>(
            step < length ? matrix.column[segment.first + step] % form.columns : form.columns);
        value[to] = step < length ? static_cast<Real>(scale * matrix.value[segment.first + step]) : 0;
      }
    }
    steps[end.slice++] = static_cast<std::uint16_t>(longest.length);
    end.place += std::int64_t{width} * longest.length;
  });
}

template <class Real>
std::vector<TileCounts> TiledMatrix<Real>::count(const Csr& matrix, const TileForm& form) const {
  std::vector<TileCounts> counts(groups_.size());
  FirstException exception;
  for_each([&](int group, Range rows) {
    exception.guard([&] { counts[group] = count_tiles(matrix, rows, form); });
  });
  exception.rethrow();
  return counts;
}

template <class Real>
TiledMatrix<Real>::TiledMatrix(const Csr& matrix, double scale, const TileForm& narrow, std::string_view name)
    : rows_(matrix.rows), groups_(starts_of_windows(matrix, narrow.lower)), tiles_(groups_.size()) {
  std::vector<TileCounts> counts = count(matrix, narrow);
  TileCounts all;
  for (const TileCounts& part : counts) all.add(part);
  form_ = widened_if_short(narrow, all, matrix.columns);
  if (form_.columns != narrow.columns) counts = count(matrix, form_);
  for (const TileCounts& part : counts) bytes_ += bytes_of(part, form_.lanes, sizeof(Real));
  require_bytes(name, bytes_, matrix);
  FirstException exception;
  for_each([&](int group, Range rows) {
    exception.guard([&] { tiles_[group] = TilesOf<Real>(matrix, scale, rows, form_, counts[group]); });
  });
  exception.rethrow();
}

template struct TilesOf<double>;
template struct TilesOf<float>;
template class TiledMatrix<double>;
template class TiledMatrix<float>;

}  // namespace ayatori::sparse
