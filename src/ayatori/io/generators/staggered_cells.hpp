#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "ayatori/io/generator.hpp"
#include "ayatori/io/generators/grid.hpp"

// Cells of a square or cube with unknowns on the faces between them and in the cells.
//
// Unknowns are numbered line by line of cells along x: those of the upper faces along x, y (and z) of these
// cells, then those of the cells. So any contiguous part of some lines has unknowns of all kinds.

namespace ayatori::io {

inline constexpr GeneratorParameter cells_2d{"n",         100,  2,
                                             max_edge_2d, true, "cells per edge; about 3 n^2 unknowns"};
inline constexpr GeneratorParameter cells_3d{"n",         30,   2,
                                             max_edge_3d, true, "cells per edge; about 4 n^3 unknowns"};
inline constexpr GeneratorParameter pressure_level{
    "level", 1, 0, 1, true, "1: the last cell has no pressure, 0: pressures up to a constant, singular"};

using Cell = std::array<std::int64_t, 3>;

inline Cell beside(Cell cell, int axis, std::int64_t steps) {
  cell[axis] += steps;
  return cell;
}

/// The numbering. In the plane there is one layer of cells, and no face across it.
class Staggered {
 public:
  Staggered(int dimension, std::int64_t n, bool has_last_pressure)
      : dimension_(dimension),
        n_(n),
        line_((dimension + 1) * n - 1),
        layer_(n * line_ - n),
        cells_(dimension == 3 ? n * n * n : n * n),
        rows_((dimension + 1) * cells_ - dimension * (cells_ / n) - (has_last_pressure ? 0 : 1)) {}

  int dimension() const { return dimension_; }
  std::int64_t n() const { return n_; }
  std::int64_t rows() const { return rows_; }

  /// Whether there is a cell here.
  bool has_cell(const Cell& cell) const {
    for (int a = 0; a < dimension_; ++a)
      if (cell[a] < 0 || cell[a] >= n_) return false;
    return true;
  }

  /// Whether the upper face of `cell` along `axis` is one inside the domain.
  bool is_face(int axis, const Cell& cell) const { return has_cell(cell) && has_cell(beside(cell, axis, 1)); }

  /// Number of the upper face of a cell along `axis`, or of the cell itself, where axis is the dimension.
  std::int64_t number(int axis, const Cell& cell) const {
    std::int64_t at = cell[2] * layer_ + cell[1] * length(cell[2]) + cell[0];
    for (int a = 0; a < axis; ++a) at += faces(a, cell[1], cell[2]);
    return at;
  }

  struct Unknown {
    int axis;
    Cell cell;
  };
  Unknown unknown(std::int64_t number) const {
    const std::int64_t z = dimension_ == 3 ? std::min(number / layer_, n_ - 1) : 0;
    number -= z * layer_;
    const std::int64_t y = std::min(number / length(z), n_ - 1);
    number -= y * length(z);
    int axis = 0;
    while (axis < dimension_ && number >= faces(axis, y, z)) number -= faces(axis++, y, z);
    return {axis, {number, y, z}};
  }

 private:
  /// Unknowns of a line of cells that is not the last of its layer.
  std::int64_t length(std::int64_t z) const { return dimension_ == 3 && z == n_ - 1 ? line_ - n_ : line_; }
  /// Upper faces along an axis, of a line of cells, that are no walls.
  std::int64_t faces(int axis, std::int64_t y, std::int64_t z) const {
    if (axis == 0) return n_ - 1;
    return (axis == 1 ? y : z) < n_ - 1 ? n_ : 0;
  }

  int dimension_;
  std::int64_t n_;
  std::int64_t line_;   ///< unknowns of a line of cells inside the domain
  std::int64_t layer_;  ///< unknowns of a layer of them
  std::int64_t cells_;
  std::int64_t rows_;
};

}  // namespace ayatori::io
