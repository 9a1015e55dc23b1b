#include <array>
#include <memory>
#include <numbers>

#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// Linear elasticity of a cube: isotropic, trilinear hexahedra (Q1), n^3 elements, clamped on the face x = 0,
// free elsewhere; symmetric positive definite. Young's modulus and edge of an element are 1 (for edges h and
// modulus E multiply by E h). Unknown 3 k + c is displacement c of free node k; nodes are numbered with x
// fastest, then y, then z.

namespace ayatori::io {

namespace {

using Vector3 = std::array<double, 3>;
using Block3 = std::array<Vector3, 3>;
using Element = std::array<std::array<Block3, 8>, 8>;  // [node][node]; node = 4 z + 2 y + x

/// Gradients of the eight shape functions at a point of the unit cube.
std::array<Vector3, 8> shape_gradients(const Vector3& at) {
  std::array<Vector3, 8> gradients{};
  for (int node = 0; node < 8; ++node) {
    for (int c = 0; c < 3; ++c) {
      double product = 1;
      for (int d = 0; d < 3; ++d) {
        const bool upper = ((node >> d) & 1) == 1;
        product *= d == c ? (upper ? 1 : -1) : (upper ? at[d] : 1 - at[d]);
      }
      gradients[node][c] = product;
    }
  }
  return gradients;
}

/// Adds `weight` times the integrand of lambda div u div v + 2 mu eps(u) : eps(v), for nodes a <= b.
void add_integrand(Element& element, const std::array<Vector3, 8>& g, double lambda, double mu,
                   double weight) {
  for (int a = 0; a < 8; ++a) {
    for (int b = a; b < 8; ++b) {
      const double dot = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          element[a][b][i][j] +=
              weight * (lambda * g[a][i] * g[b][j] + mu * (g[a][j] * g[b][i] + (i == j ? dot : 0)));
        }
      }
    }
  }
}

/// The element stiffness matrix, by 2 x 2 x 2 Gauss points (exact on cubes); mirrored to be symmetric to the
/// last bit.
Element element_stiffness(double nu) {
  const double lambda = nu / ((1 + nu) * (1 - 2 * nu));
  const double mu = 1 / (2 * (1 + nu));
  const std::array points{0.5 - std::numbers::inv_sqrt3 / 2, 0.5 + std::numbers::inv_sqrt3 / 2};
  Element element{};
  for (const double z : points) {
    for (const double y : points) {
      for (const double x : points) add_integrand(element, shape_gradients({x, y, z}), lambda, mu, 1.0 / 8);
    }
  }
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b <= a; ++b) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < (a == b ? i : 3); ++j) element[a][b][i][j] = element[b][a][j][i];
      }
    }
  }
  return element;
}

/// Where a node lies along an axis: which of the two elements beside it exist.
enum Place { at_lower_end, between, at_upper_end };

/// Assembled coupling of a node with its 27 neighbours, for each of the 27 places it can have.
class Stencils {
 public:
  explicit Stencils(double nu) {
    const Element element = element_stiffness(nu);
    for (int place = 0; place < 27; ++place) {
      // Elements in ascending order: two nodes sum what they share in the same order, hence symmetrically.
      for (int e = 0; e < 8; ++e) {
        if (exists(place, e)) add_element(place, e, element);
      }
    }
  }

  /// place and neighbour: 9 z + 3 y + x, each 0 .. 2.
  const Block3& block(int place, int neighbour) const { return blocks_[place][neighbour]; }

 private:
  /// Bit d of e: whether the element lies on the upper side of the node along axis d.
  static bool exists(int place, int e) {
    for (int d = 0; d < 3; ++d, place /= 3) {
      const bool upper = ((e >> d) & 1) == 1;
      if (place % 3 == (upper ? at_upper_end : at_lower_end)) return false;
    }
    return true;
  }

  void add_element(int place, int e, const Element& element) {
    const int a = 7 - e;  // the node is the lower corner of an upper element
    for (int b = 0; b < 8; ++b) {
      int neighbour = 0;
      for (int d = 2; d >= 0; --d) neighbour = 3 * neighbour + ((e >> d) & 1) + ((b >> d) & 1);
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) blocks_[place][neighbour][i][j] += element[a][b][i][j];
      }
    }
  }

  std::array<std::array<Block3, 27>, 27> blocks_{};
};

Place place_of(std::int64_t x, std::int64_t n) {
  return x == 0 ? at_lower_end : x == n ? at_upper_end : between;
}

/// Node (x, y, z) with x = 1 .. n, the clamped nodes x = 0 being no unknowns, and y, z = 0 .. n.
void add_row(RowBuilder& row, const Stencils& stencils, std::int64_t n, Point3 p, int component) {
  const int place = 9 * place_of(p.z, n) + 3 * place_of(p.y, n) + place_of(p.x, n);
  for (int dz = -1; dz <= 1; ++dz) {
    if (p.z + dz < 0 || p.z + dz > n) continue;
    for (int dy = -1; dy <= 1; ++dy) {
      if (p.y + dy < 0 || p.y + dy > n) continue;
      for (int dx = -1; dx <= 1; ++dx) {
        if (p.x + dx < 1 || p.x + dx > n) continue;
        const std::int64_t node = ((p.z + dz) * (n + 1) + p.y + dy) * n + p.x + dx - 1;
        const Vector3& values = stencils.block(place, 9 * (dz + 1) + 3 * (dy + 1) + dx + 1)[component];
        for (int c = 0; c < 3; ++c) row.add(3 * node + c, values[c]);
      }
    }
  }
}

GeneratedMatrix make(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  const auto stencils = std::make_shared<const Stencils>(parameters.real("nu"));
  return {
      3 * n * (n + 1) * (n + 1), [=](std::int64_t i, RowBuilder& row) {
        const std::int64_t node = i / 3;
        const std::int64_t line = node / n;
        add_row(row, *stencils, n, {node % n + 1, line % (n + 1), line / (n + 1)}, static_cast<int>(i % 3));
      }};
}

constexpr std::array parameters{
    GeneratorParameter{"n", 24, 1, 50000, true, "elements per edge; 3 n (n+1)^2 unknowns"},
    GeneratorParameter{"nu", 0.3, 0, 0.4999, false, "Poisson's ratio; near 0.5 incompressible"}};

}  // namespace

const Generator elasticity3d{"elasticity3d", "Linear elasticity of a cube clamped on one face, 81 points",
                             true, parameters, make};

}  // namespace ayatori::io
