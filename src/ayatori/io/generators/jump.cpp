#include <array>
#include <cmath>

#include "ayatori/base/random.hpp"
#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// -div(k grad u) = g with a coefficient k that jumps between blocks: finite volumes on n^d cells, harmonic
// means at the faces, Dirichlet boundary; symmetric positive definite.
//
// The domain is cut into `blocks` blocks per edge. seed=0: a checkerboard of k = 1 and k = ratio. Any other
// seed: every block has k = ratio^u with u uniform in [0, 1).

namespace ayatori::io {

namespace {

class Coefficient {
 public:
  explicit Coefficient(const GeneratorParameters& parameters)
      : n_(parameters.integer("n")),
        blocks_(parameters.integer("blocks")),
        seed_(static_cast<std::uint64_t>(parameters.integer("seed"))),
        ratio_(parameters.real("ratio")) {}

  std::int64_t n() const { return n_; }

  double of_cell(Point3 cell) const {
    const Point3 block{cell.x * blocks_ / n_, cell.y * blocks_ / n_, cell.z * blocks_ / n_};
    if (seed_ == 0) return (block.x + block.y + block.z) % 2 == 0 ? 1.0 : ratio_;
    return std::pow(ratio_, random_uniform(seed_, (block.z * blocks_ + block.y) * blocks_ + block.x));
  }

  /// Minus the weight of the face between cell `p`, whose coefficient is k, and the next cell in a direction;
  /// outside the domain lies the boundary, half a cell away.
  double face(double k, Point3 p) const {
    const auto inside = [&](std::int64_t x) { return 0 <= x && x < n_; };
    if (!inside(p.x) || !inside(p.y) || !inside(p.z)) return -2 * k;
    const double other = of_cell(p);
    return -2 * (k * other) / (k + other);
  }

 private:
  std::int64_t n_;
  std::int64_t blocks_;
  std::uint64_t seed_;
  double ratio_;
};

GeneratedMatrix make_2d(const GeneratorParameters& parameters) {
  const Coefficient coefficient(parameters);
  const std::int64_t n = coefficient.n();
  return {n * n, [=](std::int64_t i, RowBuilder& row) {
            const Point2 p = point2(i, n);
            const double k = coefficient.of_cell({p.x, p.y, 0});
            const double south = coefficient.face(k, {p.x, p.y - 1, 0});
            const double west = coefficient.face(k, {p.x - 1, p.y, 0});
            const double east = coefficient.face(k, {p.x + 1, p.y, 0});
            const double north = coefficient.face(k, {p.x, p.y + 1, 0});
            add_star(row, i, p, n, {south, west, -(south + west + east + north), east, north});
          }};
}

GeneratedMatrix make_3d(const GeneratorParameters& parameters) {
  const Coefficient coefficient(parameters);
  const std::int64_t n = coefficient.n();
  return {n * n * n, [=](std::int64_t i, RowBuilder& row) {
            const Point3 p = point3(i, n);
            const double k = coefficient.of_cell(p);
            const double below = coefficient.face(k, {p.x, p.y, p.z - 1});
            const double south = coefficient.face(k, {p.x, p.y - 1, p.z});
            const double west = coefficient.face(k, {p.x - 1, p.y, p.z});
            const double east = coefficient.face(k, {p.x + 1, p.y, p.z});
            const double north = coefficient.face(k, {p.x, p.y + 1, p.z});
            const double above = coefficient.face(k, {p.x, p.y, p.z + 1});
            const double centre = -(below + south + west + east + north + above);
            add_star(row, i, p, n, {below, south, west, centre, east, north, above});
          }};
}

constexpr GeneratorParameter ratio{"ratio", 1e4,   1e-9,
                                   1e9,     false, "of the coefficients of the two kinds of block"};
constexpr GeneratorParameter blocks{"blocks", 8, 1, 1e5, true, "blocks per edge"};
constexpr GeneratorParameter seed{"seed", 0, 0, 4294967295, true, "0: a checkerboard, else random blocks"};
constexpr std::array parameters_2d{
    GeneratorParameter{"n", 200, 1, max_edge_2d, true, "cells per edge; n^2 unknowns"}, ratio, blocks, seed};
constexpr std::array parameters_3d{
    GeneratorParameter{"n", 64, 1, max_edge_3d, true, "cells per edge; n^3 unknowns"}, ratio, blocks, seed};

}  // namespace

const Generator jump2d{"jump2d", "Diffusion with jumping coefficients on a square, 5 points", true,
                       parameters_2d, make_2d};
const Generator jump3d{"jump3d", "Diffusion with jumping coefficients on a cube, 7 points", true,
                       parameters_3d, make_3d};

}  // namespace ayatori::io
