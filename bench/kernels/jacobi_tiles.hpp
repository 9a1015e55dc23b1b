#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/range.hpp"

namespace ayatori::bench {

/// Rows and columns of a grid.
struct Rect {
  Range rows;
  Range columns;

  bool empty() const { return rows.empty() || columns.empty(); }
};

/// A rank's part of an n x n grid with zeros around it, and `depth` rows and columns more on every side.
/// Indices are global.
class GridBlock {
 public:
  GridBlock(Rect own, std::int64_t n, std::int64_t depth);

  const Rect& own() const { return own_; }
  std::int64_t n() const { return n_; }
  double* at(std::int64_t row, std::int64_t column) {
    return values_.data() + (row - first_row_) * stride_ + (column - first_column_);
  }
  const double* at(std::int64_t row, std::int64_t column) const {
    return values_.data() + (row - first_row_) * stride_ + (column - first_column_);
  }

 private:
  Rect own_;
  std::int64_t n_;
  std::int64_t first_row_;
  std::int64_t first_column_;
  std::int64_t stride_;
  Array<double> values_;
};

/// `sweeps` Jacobi sweeps of the 5-point Laplace operator on `part` of a block, each
/// u'(i, j) = ((u(i-1, j) + u(i+1, j)) + (u(i, j-1) + u(i, j+1))) / 4, from `from` into `to`, whose values
/// around the part, as far as sweeps, are those of the grid. Temporal blocking: the part is cut into tiles
/// for which all sweeps are done while their rows pass through the cache of a core once (3 rows of every
/// sweep's values are kept); memory is read and written once for all sweeps, 16 bytes per point, and not once
/// for each. What neighbouring tiles need of each other both compute. The result is bitwise that of plain
/// sweeps. Uses all threads; the calling one calls `progress`, if there is one, between tiles.
void sweep(const GridBlock& from, GridBlock& to, const Rect& part, int sweeps,
           const std::function<void()>& progress = {});

/// One sweep over all of an n x n grid, row by row; the reference.
std::vector<double> plain_sweep(const std::vector<double>& values, std::int64_t n);

}  // namespace ayatori::bench
