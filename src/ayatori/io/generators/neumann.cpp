#include <algorithm>
#include <array>

#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// -Laplace(u) = f on the unit square or cube with nothing but Neumann boundaries, n^d points, scaled by h^2:
// singular, for constants are solutions of the homogeneous problem.

namespace ayatori::io {

namespace {

/// Neighbours along an axis of the point with this coordinate.
double neighbours(std::int64_t at, std::int64_t n) {
  return (at > 0 ? 1 : 0) + (at < n - 1 ? 1 : 0);
}

GeneratedMatrix make_2d(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  return {n * n, [n](std::int64_t i, RowBuilder& row) {
            const Point2 p = point2(i, n);
            add_star(row, i, p, n, {-1, -1, neighbours(p.x, n) + neighbours(p.y, n), -1, -1});
          }};
}

GeneratedMatrix make_3d(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  return {n * n * n, [n](std::int64_t i, RowBuilder& row) {
            const Point3 p = point3(i, n);
            const double centre = neighbours(p.x, n) + neighbours(p.y, n) + neighbours(p.z, n);
            add_star(row, i, p, n, {-1, -1, -1, centre, -1, -1, -1});
          }};
}

constexpr std::array parameters_2d{
    GeneratorParameter{"n", 100, 2, max_edge_2d, true, "points per edge; n^2 unknowns"}};
constexpr std::array parameters_3d{
    GeneratorParameter{"n", 50, 2, max_edge_3d, true, "points per edge; n^3 unknowns"}};

}  // namespace

const Generator neumann2d{"neumann2d", "Poisson on a square without a Dirichlet boundary, 5 points: singular",
                          true, parameters_2d, make_2d};
const Generator neumann3d{"neumann3d", "Poisson on a cube without a Dirichlet boundary, 7 points: singular",
                          true, parameters_3d, make_3d};

}  // namespace ayatori::io
