#include <array>
#include <cstdlib>

#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// A clamped plate: Laplace(Laplace(u)) = g on a square, u and its normal derivative 0 at the boundary;
// symmetric positive definite. Differences of second order with 13 points (Bjorstad, SIAM J. Numer. Anal. 20,
// 1983), n^2 inner points, scaled by h^4. The point behind the boundary mirrors the one before it, which adds
// 1 to the diagonal. The condition grows like n^4.

namespace ayatori::io {

namespace {

void add_row(RowBuilder& row, std::int64_t n, const Point2& p) {
  for (std::int64_t dy = -2; dy <= 2; ++dy) {
    const std::int64_t reach = 2 - std::abs(dy);
    for (std::int64_t dx = -reach; dx <= reach; ++dx) {
      const std::int64_t x = p.x + dx;
      const std::int64_t y = p.y + dy;
      if (x < 0 || y < 0 || x >= n || y >= n) continue;
      const std::int64_t distance = std::abs(dx) + std::abs(dy);
      double value = distance == 0 ? 20 : distance == 1 ? -8 : dx == 0 || dy == 0 ? 1 : 2;
      if (distance == 0) {
        for (const bool at_boundary : {x == 0, x == n - 1, y == 0, y == n - 1}) value += at_boundary ? 1 : 0;
      }
      row.add(y * n + x, value);
    }
  }
}

GeneratedMatrix make(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  return {n * n, [=](std::int64_t i, RowBuilder& row) { add_row(row, n, point2(i, n)); }};
}

constexpr std::array parameters{
    GeneratorParameter{"n", 100, 1, max_edge_2d, true, "inner points per edge; n^2 unknowns"}};

}  // namespace

const Generator biharmonic2d{"biharmonic2d", "A clamped plate, 13 points", true, parameters, make};

}  // namespace ayatori::io
