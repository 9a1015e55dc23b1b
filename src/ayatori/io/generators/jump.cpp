#include <array>

#include "ayatori/io/generators/block_coefficient.hpp"
#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// -div(k grad u) = g with a coefficient k that jumps between blocks: finite volumes on n^d cells, harmonic
// means at the faces, Dirichlet boundary; symmetric positive definite.

namespace ayatori::io {

namespace {

/// Minus the weight of the face between cell `p`, whose coefficient is k, and the next cell in a direction;
/// outside the domain lies the boundary, half a cell away.
double face(const BlockCoefficient& coefficient, double k, Point3 p) {
  const auto inside = [&](std::int64_t x) { return 0 <= x && x < coefficient.n(); };
  if (!inside(p.x) || !inside(p.y) || !inside(p.z)) return -2 * k;
  const double other = coefficient.of_cell(p);
  return -2 * (k * other) / (k + other);
}

GeneratedMatrix make_2d(const GeneratorParameters& parameters) {
  const BlockCoefficient coefficient(parameters);
  const std::int64_t n = coefficient.n();
  return {n * n, [=](std::int64_t i, RowBuilder& row) {
            const Point2 p = point2(i, n);
            const double k = coefficient.of_cell({p.x, p.y, 0});
            const double south = face(coefficient, k, {p.x, p.y - 1, 0});
            const double west = face(coefficient, k, {p.x - 1, p.y, 0});
            const double east = face(coefficient, k, {p.x + 1, p.y, 0});
            const double north = face(coefficient, k, {p.x, p.y + 1, 0});
            add_star(row, i, p, n, {south, west, -(south + west + east + north), east, north});
          }};
}

GeneratedMatrix make_3d(const GeneratorParameters& parameters) {
  const BlockCoefficient coefficient(parameters);
  const std::int64_t n = coefficient.n();
  return {n * n * n, [=](std::int64_t i, RowBuilder& row) {
            const Point3 p = point3(i, n);
            const double k = coefficient.of_cell(p);
            const double below = face(coefficient, k, {p.x, p.y, p.z - 1});
            const double south = face(coefficient, k, {p.x, p.y - 1, p.z});
            const double west = face(coefficient, k, {p.x - 1, p.y, p.z});
            const double east = face(coefficient, k, {p.x + 1, p.y, p.z});
            const double north = face(coefficient, k, {p.x, p.y + 1, p.z});
            const double above = face(coefficient, k, {p.x, p.y, p.z + 1});
            const double centre = -(below + south + west + east + north + above);
            add_star(row, i, p, n, {below, south, west, centre, east, north, above});
          }};
}

constexpr std::array parameters_2d{
    GeneratorParameter{"n", 200, 1, max_edge_2d, true, "cells per edge; n^2 unknowns"}, block_ratio,
    blocks_per_edge, block_seed};
constexpr std::array parameters_3d{
    GeneratorParameter{"n", 64, 1, max_edge_3d, true, "cells per edge; n^3 unknowns"}, block_ratio,
    blocks_per_edge, block_seed};

}  // namespace

const Generator jump2d{"jump2d", "Diffusion with jumping coefficients on a square, 5 points", true,
                       parameters_2d, make_2d};
const Generator jump3d{"jump3d", "Diffusion with jumping coefficients on a cube, 7 points", true,
                       parameters_3d, make_3d};

}  // namespace ayatori::io
