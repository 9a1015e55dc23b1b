#pragma once

#include <cstdint>

#include "ayatori/io/generator.hpp"

// Square and cubic grids of n points per edge, numbered with x fastest, then y, then z.

namespace ayatori::io {

/// Most points per edge: n^d rows, and their nonzeros, stay far below 2^63.
inline constexpr double max_edge_2d = 1e7;
inline constexpr double max_edge_3d = 1e5;

struct Point2 {
  std::int64_t x, y;
};

struct Point3 {
  std::int64_t x, y, z;
};

inline Point2 point2(std::int64_t i, std::int64_t n) {
  return {i % n, i / n};
}

inline Point3 point3(std::int64_t i, std::int64_t n) {
  const std::int64_t plane = i / n;
  return {i - plane * n, plane % n, plane / n};
}

/// Coefficients of a difference formula that couples a point with its neighbours along the axes.
struct Star2 {
  double south, west, centre, east, north;
};

struct Star3 {
  double below, south, west, centre, east, north, above;
};

/// Adds row i of a five-point formula, columns ascending. Neighbours outside the grid are Dirichlet values,
/// which belong to the right-hand side.
inline void add_star(RowBuilder& row, std::int64_t i, Point2 p, std::int64_t n, const Star2& star) {
  if (p.y > 0) row.add(i - n, star.south);
  if (p.x > 0) row.add(i - 1, star.west);
  row.add(i, star.centre);
  if (p.x < n - 1) row.add(i + 1, star.east);
  if (p.y < n - 1) row.add(i + n, star.north);
}

/// The same in space, with seven points.
inline void add_star(RowBuilder& row, std::int64_t i, Point3 p, std::int64_t n, const Star3& star) {
  if (p.z > 0) row.add(i - n * n, star.below);
  if (p.y > 0) row.add(i - n, star.south);
  if (p.x > 0) row.add(i - 1, star.west);
  row.add(i, star.centre);
  if (p.x < n - 1) row.add(i + 1, star.east);
  if (p.y < n - 1) row.add(i + n, star.north);
  if (p.z < n - 1) row.add(i + n * n, star.above);
}

}  // namespace ayatori::io
