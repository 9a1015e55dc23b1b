#include <algorithm>
#include <array>
#include <cmath>

#include "ayatori/base/random.hpp"
#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// -Laplace(u) = g on the unit cube by linear finite elements on tetrahedra, Dirichlet boundary; symmetric
// positive definite. (n + 1)^3 cubes of six tetrahedra each (Kuhn 1960: one for every order in which a path
// along the edges from a cube's lowest to its highest corner can take the three axes), whose inner corners
// are moved at random by up to `jitter` edges: entries vary, and some are positive, as on meshes of real
// bodies. Scaled by 1 / h.

namespace ayatori::io {

namespace {

using Vector3 = std::array<double, 3>;
using Orders = std::array<std::array<int, 3>, 6>;
constexpr Orders orders{{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

/// Corners of the mesh, those of the boundary included: 0 .. n + 1 along each axis.
struct Mesh {
  std::int64_t n;
  double jitter;
  std::uint64_t seed;

  Vector3 position(const Point3& p) const {
    const auto inside = [&](std::int64_t x) { return 0 < x && x <= n; };
    Vector3 at{static_cast<double>(p.x), static_cast<double>(p.y), static_cast<double>(p.z)};
    if (!inside(p.x) || !inside(p.y) || !inside(p.z)) return at;
    const std::int64_t number = ((p.z - 1) * n + p.y - 1) * n + p.x - 1;
    for (int d = 0; d < 3; ++d) at[d] += jitter * (2 * random_uniform(seed, 3 * number + d) - 1);
    return at;
  }
};

Vector3 minus(const Vector3& a, const Vector3& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector3& a, const Vector3& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Adds to the row of corner `own` what one tetrahedron contributes: volume times the products of gradients.
void add_tetrahedron(RowBuilder& row, const Mesh& mesh, const std::array<Point3, 4>& corners, int own) {
  std::array<Vector3, 4> at;
  for (int c = 0; c < 4; ++c) at[c] = mesh.position(corners[c]);
  // The gradient of corner c's function is normal to the opposite face; lengths are 6 volumes too large.
  std::array<Vector3, 4> normal;
  for (int c = 0; c < 4; ++c) {
    const Vector3& base = at[(c + 1) % 4];
    normal[c] = cross(minus(at[(c + 2) % 4], base), minus(at[(c + 3) % 4], base));
    if (c % 2 == 1)
      for (double& v : normal[c]) v = -v;
  }
  const double six_volumes = std::abs(dot(minus(at[0], at[1]), normal[0]));
  for (int c = 0; c < 4; ++c) {
    const auto inside = [&](std::int64_t x) { return 0 < x && x <= mesh.n; };
    const Point3& p = corners[c];
    if (!inside(p.x) || !inside(p.y) || !inside(p.z)) continue;
    row.add(((p.z - 1) * mesh.n + p.y - 1) * mesh.n + p.x - 1,
            dot(normal[own], normal[c]) / (6 * six_volumes));
  }
}

void add_row(RowBuilder& row, const Mesh& mesh, const Point3& own) {
  for (std::int64_t cube = 0; cube < 8; ++cube) {
    const Point3 lowest{own.x - 1 + (cube & 1), own.y - 1 + (cube >> 1 & 1), own.z - 1 + (cube >> 2)};
    for (const auto& order : orders) {
      std::array<Point3, 4> corners{lowest, lowest, lowest, lowest};
      for (int step = 0; step < 3; ++step) {
        for (int later = step + 1; later < 4; ++later) {
          Point3& p = corners[later];
          (order[step] == 0 ? p.x : order[step] == 1 ? p.y : p.z) += 1;
        }
      }
      for (int c = 0; c < 4; ++c) {
        const Point3& p = corners[c];
        if (p.x == own.x && p.y == own.y && p.z == own.z) add_tetrahedron(row, mesh, corners, c);
      }
    }
  }
}

GeneratedMatrix make(const GeneratorParameters& parameters) {
  const Mesh mesh{parameters.integer("n"), parameters.real("jitter"),
                  static_cast<std::uint64_t>(parameters.integer("seed"))};
  return {mesh.n * mesh.n * mesh.n, [=](std::int64_t i, RowBuilder& row) {
            const Point3 p = point3(i, mesh.n);
            add_row(row, mesh, {p.x + 1, p.y + 1, p.z + 1});
          }};
}

constexpr std::array parameters{
    GeneratorParameter{"n", 53, 1, max_edge_3d, true, "inner points per edge; n^3 unknowns"},
    GeneratorParameter{"jitter", 0.15, 0, 0.15, false, "how far points are moved, in edges"},
    GeneratorParameter{"seed", 1, 0, 4294967295, true, "of the random moves"}};

}  // namespace

const Generator tetrahedra3d{"tetrahedra3d", "Diffusion on a cube of jittered tetrahedra, linear elements",
                             true, parameters, make};

}  // namespace ayatori::io
