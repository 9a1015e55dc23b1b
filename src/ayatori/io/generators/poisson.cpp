#include <algorithm>
#include <array>

#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// -Laplace(u) = f on the unit square or cube, Dirichlet boundary, n^d inner points, scaled by h^2.

namespace ayatori::io {

namespace {

GeneratedMatrix make_2d_5(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  return {n * n, [n](std::int64_t i, RowBuilder& row) {
            add_star(row, i, point2(i, n), n, {-1, -1, 4, -1, -1});
          }};
}

GeneratedMatrix make_3d_7(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  return {n * n * n, [n](std::int64_t i, RowBuilder& row) {
            add_star(row, i, point3(i, n), n, {-1, -1, -1, 6, -1, -1, -1});
          }};
}

GeneratedMatrix make_3d_27(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  return {n * n * n, [n](std::int64_t i, RowBuilder& row) {
            const Point3 p = point3(i, n);
            const auto first = [](std::int64_t x) { return x > 0 ? x - 1 : 0; };
            const auto last = [n](std::int64_t x) { return std::min(x + 1, n - 1); };
            for (std::int64_t z = first(p.z); z <= last(p.z); ++z) {
              for (std::int64_t y = first(p.y); y <= last(p.y); ++y) {
                for (std::int64_t x = first(p.x); x <= last(p.x); ++x) {
                  const std::int64_t column = (z * n + y) * n + x;
                  row.add(column, column == i ? 26.0 : -1.0);
                }
              }
            }
          }};
}

constexpr std::array parameters_2d{
    GeneratorParameter{"n", 100, 1, max_edge_2d, true, "points per edge; n^2 unknowns"}};
constexpr std::array parameters_3d{
    GeneratorParameter{"n", 50, 1, max_edge_3d, true, "points per edge; n^3 unknowns"}};

}  // namespace

const Generator poisson2d_5{"poisson2d-5", "Poisson on a square, 5 points: 4 and -1", true, parameters_2d,
                            make_2d_5};
const Generator poisson3d_7{"poisson3d-7", "Poisson on a cube, 7 points: 6 and -1", true, parameters_3d,
                            make_3d_7};
const Generator poisson3d_27{"poisson3d-27", "Poisson on a cube, 27 points: 26 and -1 (as in HPCG)", true,
                             parameters_3d, make_3d_27};

}  // namespace ayatori::io
