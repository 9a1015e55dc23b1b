#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::sparse {

/// Whether every entry (i, j) of these rows of a square matrix has an equal (j, i).
inline bool has_mirror_images(const Csr& matrix, Range rows) {
  const std::int32_t* column = matrix.column.data();
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const std::int32_t j = column[k];
      if (j == i) continue;
      const std::int32_t* end = column + matrix.row_start[j + 1];
      const std::int32_t* found = std::lower_bound(column + matrix.row_start[j], end, i);
      if (found == end || *found != i || matrix.value[found - column] != matrix.value[k]) return false;
    }
  }
  return true;
}

/// Finds the mirror images (j, i) of entries (i, j) of a square matrix. As rows i ascend, the entries of a
/// row j are met in their order: nothing is searched for but the first.
class MirrorImages {
 public:
  static constexpr std::int64_t nowhere = -1;

  /// Images of entries in columns below `columns`.
  MirrorImages(const Csr& matrix, std::int64_t columns) : matrix_(matrix), next_(columns, unknown) {}

  /// The place of (j, i) in Csr::column and Csr::value, or `nowhere`. For the same j, i must ascend.
  std::int64_t find(std::int64_t i, std::int32_t j) {
    const std::int32_t* column = matrix_.column.data();
    const std::int64_t end = matrix_.row_start[j + 1];
    std::int64_t place = next_[j];
    if (place == unknown) place = std::lower_bound(column + matrix_.row_start[j], column + end, i) - column;
    while (place < end && column[place] < i) ++place;
    const bool found = place < end && column[place] == i;
    next_[j] = found ? place + 1 : place;
    return found ? place : nowhere;
  }
  /// Nothing of row j before `place` will be asked for.
  void skip_to(std::int64_t j, std::int64_t place) { next_[j] = place; }

 private:
  static constexpr std::int64_t unknown = -1;

  const Csr& matrix_;
  Array<std::int64_t> next_;  // first entry of each row that may be met yet
};

/// The place of the entry (i, j) in Csr::column and Csr::value, or MirrorImages::nowhere.
inline std::int64_t find_entry(const Csr& matrix, std::int64_t i, std::int64_t j) {
  const std::int32_t* column = matrix.column.data();
  const std::int32_t* end = column + matrix.row_start[i + 1];
  const std::int32_t* found = std::lower_bound(column + matrix.row_start[i], end, j);
  return found != end && *found == j ? found - column : MirrorImages::nowhere;
}

/// 0 where there is nothing.
inline double value_at(const Csr& matrix, std::int64_t place) {
  return place == MirrorImages::nowhere ? 0 : matrix.value[place];
}

/// The place of the mirror image (j, i) of the entry k of row i. In matrices from grids it stands as far from
/// the end of its row as the entry from the beginning of its own: there it is looked for first.
inline std::int64_t find_mirror_image(const Csr& matrix, std::int64_t i, std::int64_t k) {
  const std::int64_t j = matrix.column[k];
  const std::int64_t guess = matrix.row_start[j + 1] - 1 - (k - matrix.row_start[i]);
  return guess >= matrix.row_start[j] && matrix.column[guess] == i ? guess : find_entry(matrix, j, i);
}

/// How far a matrix is its own transpose.
struct Symmetry {
  bool pattern = true;
  bool values = true;  ///< exactly
};

/// Some rows held against the columns of the same numbers: lower entries have been compared with their mirror
/// images; as many upper ones on all rows together then have one, too.
struct HalvesOfRows {
  Symmetry lower;
  std::int64_t more_lower = 0;  ///< entries than upper ones
};

/// Stops once `enough` has been seen to be wanting.
inline HalvesOfRows compare_halves(const Csr& matrix, Range rows, bool Symmetry::*enough) {
  MirrorImages images(matrix, rows.end);
  const std::int32_t* column = matrix.column.data();
  HalvesOfRows halves;
  for (std::int64_t i = rows.begin; i < rows.end && halves.lower.*enough; ++i) {
    const std::int64_t begin = matrix.row_start[i];
    const std::int64_t end = matrix.row_start[i + 1];
    std::int64_t k = begin;
    for (; k < end && column[k] < i; ++k) {
      const std::int64_t place = images.find(i, column[k]);
      if (place == MirrorImages::nowhere) {
        halves.lower = {false, false};
      } else if (matrix.value[place] != matrix.value[k]) {
        halves.lower.values = false;
      }
    }
    const std::int64_t lower = k - begin;
    if (k < end && column[k] == i) ++k;
    images.skip_to(i, k);
    halves.more_lower += lower - (end - k);
  }
  return halves;
}

/// Whether every entry (i, j) of a matrix has an equal (j, i).
inline bool is_symmetric(const Csr& matrix) {
  if (matrix.rows != matrix.columns) return false;
  std::atomic<bool> values = true;
  std::atomic<std::int64_t> more_lower = 0;
  parallel_ranges_throwing(matrix.rows, [&](Range rows) {
    const HalvesOfRows halves = compare_halves(matrix, rows, &Symmetry::values);
    if (!halves.lower.values) values = false;
    more_lower += halves.more_lower;
  });
  return values && more_lower == 0;
}

}  // namespace ayatori::sparse
