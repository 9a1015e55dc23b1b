#include <array>

#include "ayatori/io/generators/complex_rows.hpp"
#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// Eddy currents: curl curl E + conductivity E = f in the unit cube with a perfectly conducting boundary, edge
// elements of lowest order (Nedelec, Numer. Math. 35, 1980) on n^3 cubes, h = 1 / n; symmetric positive
// definite. conductivity=0: singular, the gradients of all functions of the inner nodes are null vectors.
//
// maxwell3d: electric fields in the same cavity at a wave number k, time factor exp(-i omega t), filled with
// a conductor: curl curl E - (k^2 + i sigma k) E = f; complex symmetric, indefinite. sigma=0: without loss,
// near singular where k is near a resonance, k^2 = pi^2 (a^2 + b^2 + c^2) with at most one of a, b, c zero.
//
// Unknowns are the tangential components along the inner edges: 3 n (n-1)^2. All is divided by h. Along an
// axis across an edge there are m = (1/6, 2/3, 1/6) and s = (-1, 2, -1): edges of one direction couple by s m
// + m s + reaction m m, where reaction is what multiplies E times h^2, those of two by the signs of their
// slopes, times m along the third.
//
// Layer by layer along z: edges along x, then y, in the plane of the layer, then those along z up to the
// next.

namespace ayatori::io {

namespace {

constexpr std::array mass{1.0 / 6, 2.0 / 3, 1.0 / 6};
constexpr std::array stiffness{-1.0, 2.0, -1.0};

using Place = std::array<std::int64_t, 3>;

class Edges {
 public:
  explicit Edges(std::int64_t n) : n_(n), flat_(n * (n - 1)), upright_((n - 1) * (n - 1)) {}

  std::int64_t count() const { return 3 * n_ * upright_; }

  /// Whether the edge from node `at` along `axis` is inside.
  bool has(int axis, const Place& at) const {
    for (int d = 0; d < 3; ++d)
      if (at[d] < (d == axis ? 0 : 1) || at[d] >= n_) return false;
    return true;
  }

  std::int64_t number(int axis, const Place& at) const {
    const auto [x, y, z] = at;
    if (axis == 2) return z * (2 * flat_ + upright_) + (y - 1) * (n_ - 1) + x - 1;
    const std::int64_t layer = z * (2 * flat_ + upright_) - 2 * flat_;  // layer 0 has no flat edges
    return layer + (axis == 0 ? (y - 1) * n_ + x : flat_ + y * (n_ - 1) + x - 1);
  }

  struct Edge {
    int axis;
    Place at;
  };
  Edge edge(std::int64_t number) const {
    number += 2 * flat_;
    const std::int64_t z = number / (2 * flat_ + upright_);
    number -= z * (2 * flat_ + upright_);
    if (number < flat_) return {0, {number % n_, number / n_ + 1, z}};
    number -= flat_;
    if (number < flat_) return {1, {number % (n_ - 1) + 1, number / (n_ - 1), z}};
    number -= flat_;
    return {2, {number % (n_ - 1) + 1, number / (n_ - 1) + 1, z}};
  }

 private:
  std::int64_t n_;
  std::int64_t flat_;     ///< edges along x, or y, of a layer
  std::int64_t upright_;  ///< along z
};

template <class Value>
void add_same_direction(const Edges& edges, int axis, const Place& at, Value reaction,
                        BasicRowBuilder<Value>& row) {
  for (int s = 0; s < 3; ++s) {
    for (int t = 0; t < 3; ++t) {
      Place other = at;
      other[(axis + 1) % 3] += s - 1;
      other[(axis + 2) % 3] += t - 1;
      if (edges.has(axis, other))
        row.add(edges.number(axis, other),
                (stiffness[s] * mass[t] + mass[s] * stiffness[t]) + reaction * (mass[s] * mass[t]));
    }
  }
}

/// The edges along `along` at the ends of this one in the two cells beside it in that direction.
template <class Value>
void add_other_direction(const Edges& edges, int axis, const Place& at, int along,
                         BasicRowBuilder<Value>& row) {
  const int third = 3 - axis - along;
  for (int end = 0; end < 2; ++end) {
    for (int side = 0; side < 2; ++side) {
      for (int t = 0; t < 3; ++t) {
        Place other = at;
        other[axis] += end;
        other[along] += side - 1;
        other[third] += t - 1;
        // In the lower cell (side 0) this one's function rises along `along`; at the upper end the other's
        // rises.
        if (edges.has(along, other)) row.add(edges.number(along, other), side == end ? mass[t] : -mass[t]);
      }
    }
  }
}

template <class Value>
void add_row(const Edges& edges, std::int64_t i, Value reaction, BasicRowBuilder<Value>& row) {
  const auto [axis, at] = edges.edge(i);
  add_same_direction(edges, axis, at, reaction, row);
  for (int along = 0; along < 3; ++along)
    if (along != axis) add_other_direction(edges, axis, at, along, row);
}

GeneratedMatrix make_curlcurl(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  const double step = 1 / static_cast<double>(n);
  const double reaction = parameters.real("conductivity") * step * step;
  const Edges edges(n);
  return {edges.count(), [=](std::int64_t i, RowBuilder& row) { add_row(edges, i, reaction, row); }};
}

GeneratedMatrix make_maxwell(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  const double step = 1 / static_cast<double>(n);
  const double k = parameters.real("k");
  const sparse::Complex reaction = -step * step * sparse::Complex(k * k, parameters.real("sigma") * k);
  const Edges edges(n);
  return real_form(edges.count(),
                   [=](std::int64_t i, ComplexRowBuilder& row) { add_row(edges, i, reaction, row); });
}

constexpr std::array parameters_curlcurl{
    GeneratorParameter{"n", 20, 2, max_edge_3d, true, "elements per edge; 3 n (n-1)^2 unknowns"},
    GeneratorParameter{"conductivity", 1, 0, 1e12, false, "times permeability and frequency; 0: singular"}};
constexpr std::array parameters_maxwell{
    GeneratorParameter{"n", 20, 2, max_edge_3d, true, "elements per edge; 3 n (n-1)^2 complex unknowns"},
    GeneratorParameter{"k", 12, 1e-6, 1e6, false, "wave number; 2 pi n / k elements per wavelength"},
    GeneratorParameter{"sigma", 1, 0, 1e12, false, "conductivity times impedance; 0: without loss"}};

}  // namespace

const Generator curlcurl3d{"curlcurl3d", "Eddy currents in a cube, edge elements, 33 points", true,
                           parameters_curlcurl, make_curlcurl};
const Generator maxwell3d{"maxwell3d",  "Electric field in a cavity, edge elements: complex symmetric",
                          false,        parameters_maxwell,
                          make_maxwell, true};

}  // namespace ayatori::io
