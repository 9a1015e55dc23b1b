#include <array>

#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// A step of backward Euler for the heat equation u_t = Laplace(u) on the unit cube, Dirichlet boundary:
// M + dt K of trilinear elements (Q1) with consistent mass; symmetric positive definite. n^3 inner nodes,
// h = 1 / (n + 1), divided by the volume of an element. Both are products of matrices along the axes, with
// m = (1/6, 2/3, 1/6) and k = (-1, 2, -1) / h^2.

namespace ayatori::io {

namespace {

constexpr std::array mass{1.0 / 6, 2.0 / 3, 1.0 / 6};
constexpr std::array stiffness{-1.0, 2.0, -1.0};

GeneratedMatrix make(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  const auto edges = static_cast<double>(n + 1);
  const double weight = parameters.real("dt") * edges * edges;
  return {n * n * n, [=](std::int64_t i, RowBuilder& row) {
            const Point3 p = point3(i, n);
            for (int k = 0; k < 27; ++k) {
              const int a = k % 3;
              const int b = k / 3 % 3;
              const int c = k / 9;
              const Point3 q{p.x + a - 1, p.y + b - 1, p.z + c - 1};
              const auto inside = [&](std::int64_t x) { return 0 <= x && x < n; };
              if (!inside(q.x) || !inside(q.y) || !inside(q.z)) continue;
              row.add((q.z * n + q.y) * n + q.x,
                      mass[a] * mass[b] * mass[c] +
                          weight * (stiffness[a] * mass[b] * mass[c] + mass[a] * stiffness[b] * mass[c] +
                                    mass[a] * mass[b] * stiffness[c]));
            }
          }};
}

constexpr std::array parameters{
    GeneratorParameter{"n", 30, 1, max_edge_3d, true, "inner nodes per edge; n^3 unknowns"},
    GeneratorParameter{"dt", 1e-3, 0, 1e9, false, "time step; h^2 is a stable one of explicit methods"}};

}  // namespace

const Generator heat3d{"heat3d", "A time step of the heat equation on a cube, trilinear elements", true,
                       parameters, make};

}  // namespace ayatori::io
