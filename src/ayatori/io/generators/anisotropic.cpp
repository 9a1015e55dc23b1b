#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// Anisotropic diffusion with Dirichlet boundary; symmetric positive definite.
//
// anisotropic2d: -div(Q^T diag(1, epsilon) Q grad u) on a square, the strong direction turned by `angle`
// degrees from the x axis; bilinear finite elements on squares, hence 9 points and definite at every angle.
// anisotropic3d: -u_xx - epsilon_y u_yy - epsilon_z u_zz on a cube, 7 points, scaled by h^2.

namespace ayatori::io {

namespace {

/// The nine coefficients, [dy + 1][dx + 1]: element integrals of D11 u_x v_x + D22 u_y v_y
/// + D12 (u_x v_y + u_y v_x).
using Stencil9 = std::array<std::array<double, 3>, 3>;

Stencil9 bilinear_stencil(double epsilon, double angle_degrees) {
  const double angle = angle_degrees * std::numbers::pi / 180;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  const double d11 = c * c + epsilon * s * s;
  const double d22 = epsilon * c * c + s * s;
  const double d12 = (1 - epsilon) * c * s;
  const double falling = -(d11 + d22) / 6 + d12 / 2;
  const double rising = -(d11 + d22) / 6 - d12 / 2;
  const double along_x = -2 * d11 / 3 + d22 / 3;
  const double along_y = d11 / 3 - 2 * d22 / 3;
  return {{{rising, along_y, falling}, {along_x, 4 * (d11 + d22) / 3, along_x}, {falling, along_y, rising}}};
}

GeneratedMatrix make_2d(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  const Stencil9 stencil = bilinear_stencil(parameters.real("epsilon"), parameters.real("angle"));
  return {n * n, [=](std::int64_t i, RowBuilder& row) {
            const Point2 p = point2(i, n);
            for (std::int64_t y = std::max<std::int64_t>(p.y - 1, 0); y <= std::min(p.y + 1, n - 1); ++y) {
              for (std::int64_t x = std::max<std::int64_t>(p.x - 1, 0); x <= std::min(p.x + 1, n - 1); ++x) {
                row.add(y * n + x, stencil[y - p.y + 1][x - p.x + 1]);
              }
            }
          }};
}

GeneratedMatrix make_3d(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  const double y = parameters.real("epsilon_y");
  const double z = parameters.real("epsilon_z");
  return {n * n * n, [=](std::int64_t i, RowBuilder& row) {
            add_star(row, i, point3(i, n), n, {-z, -y, -1, 2 + 2 * y + 2 * z, -1, -y, -z});
          }};
}

constexpr std::array parameters_2d{
    GeneratorParameter{"n", 200, 1, max_edge_2d, true, "points per edge; n^2 unknowns"},
    GeneratorParameter{"epsilon", 0.01, 1e-12, 1, false, "weak over strong diffusion"},
    GeneratorParameter{"angle", 30, -360, 360, false, "of the strong direction from the x axis, degrees"}};
constexpr std::array parameters_3d{
    GeneratorParameter{"n", 64, 1, max_edge_3d, true, "points per edge; n^3 unknowns"},
    GeneratorParameter{"epsilon_y", 0.1, 1e-12, 1e12, false, "diffusion along y over that along x"},
    GeneratorParameter{"epsilon_z", 0.01, 1e-12, 1e12, false, "diffusion along z over that along x"}};

}  // namespace

const Generator anisotropic2d{"anisotropic2d", "Rotated anisotropic diffusion on a square, 9 points", true,
                              parameters_2d, make_2d};
const Generator anisotropic3d{"anisotropic3d", "Anisotropic diffusion on a cube, 7 points", true,
                              parameters_3d, make_3d};

}  // namespace ayatori::io
