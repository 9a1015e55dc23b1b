#include <algorithm>
#include <array>
#include <cstddef>

#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"
#include "ayatori/io/generators/staggered_cells.hpp"

// Flow of an incompressible fluid in a closed square or cube, in staggered cells (Harlow & Welch, Phys.
// Fluids 8, 1965): velocities on the faces between cells, pressures in the cells, no slip at the walls.
//
//   -div(nu grad u) + reynolds (w . grad) u + grad p = f,  -div u = 0
//
// n cells per edge, h = 1 / n, both equations times h^2: entries of the order of nu and h, as finite elements
// in the plane have them. Stokes (reynolds = 0) is symmetric: [A B^T; B 0]. Its viscosity is 1 and `ratio` in
// a checkerboard of `blocks` blocks per edge; a face between two cells takes the mean of those around it.
// Oseen has nu = 1 and the wind w of a vortex, at most 1 long, which is free of divergence:
// (Y (1 - X^2), -X (1 - Y^2) [, (1 - X^2)(1 - Y^2)]) with X = 2 x - 1 etc.
//
// Nothing fixes the level of the pressure: the last cell has none (level=1), or the matrix is singular (0).

namespace ayatori::io {

namespace {

struct Fluid {
  double ratio = 1;
  std::int64_t blocks = 1;
  double reynolds = 0;
  bool upwind = false;
};

class Flow {
 public:
  Flow(const Staggered& grid, const Fluid& fluid)
      : grid_(grid), fluid_(fluid), step_(1.0 / static_cast<double>(grid.n())) {}

  void add_row(std::int64_t i, RowBuilder& row) const {
    const auto [axis, cell] = grid_.unknown(i);
    if (axis < grid_.dimension()) {
      add_momentum(axis, cell, row);
    } else {
      add_continuity(cell, row);
    }
  }

 private:
  void add_momentum(int axis, const Cell& cell, RowBuilder& row) const {
    double centre = 0;
    for (int along = 0; along < grid_.dimension(); ++along) {
      for (const int side : {-1, 1}) {
        const double weight = neighbour(axis, cell, along, side);
        const Cell next = beside(cell, along, side);
        centre -= weight;
        if (grid_.is_face(axis, next)) {
          row.add(grid_.number(axis, next), weight);
        } else if (along != axis) {
          centre -= weight;  // half a cell behind the wall is the mirror image
        }
      }
    }
    row.add(grid_.number(axis, cell), centre);
    add_pressure(cell, -step_, row);
    add_pressure(beside(cell, axis, 1), step_, row);
  }

  void add_continuity(const Cell& cell, RowBuilder& row) const {
    for (int axis = 0; axis < grid_.dimension(); ++axis) {
      if (grid_.is_face(axis, cell)) row.add(grid_.number(axis, cell), -step_);
      const Cell below = beside(cell, axis, -1);
      if (grid_.is_face(axis, below)) row.add(grid_.number(axis, below), step_);
    }
  }

  void add_pressure(const Cell& cell, double value, RowBuilder& row) const {
    const std::int64_t number = grid_.number(grid_.dimension(), cell);
    if (number < grid_.rows()) row.add(number, value);
  }

  /// What the equation of a face says of the one beside it.
  double neighbour(int axis, const Cell& cell, int along, int side) const {
    const double wind =
        fluid_.reynolds > 0 ? side * step_ * fluid_.reynolds * wind_at_face(axis, cell)[along] : 0;
    return -viscosity(axis, cell, along, side) + (fluid_.upwind ? std::min(wind, 0.0) : wind / 2);
  }

  double viscosity(int axis, const Cell& cell, int along, int side) const {
    if (along == axis) return viscosity_of(side < 0 ? cell : beside(cell, axis, 1));
    // Both faces add up in one order: the matrix is symmetric to the bit.
    const Cell first = side < 0 ? beside(cell, along, -1) : cell;
    double sum = 0;
    int count = 0;
    for (const Cell& near : {first, beside(first, along, 1)}) {
      for (const Cell& one : {near, beside(near, axis, 1)}) {
        if (!grid_.has_cell(one)) continue;
        sum += viscosity_of(one);
        ++count;
      }
    }
    return sum / count;
  }

  double viscosity_of(const Cell& cell) const {
    if (fluid_.ratio == 1) return 1;
    std::int64_t number = 0;
    for (const std::int64_t c : cell) number += c * fluid_.blocks / grid_.n();
    return number % 2 == 0 ? 1.0 : fluid_.ratio;
  }

  std::array<double, 3> wind_at_face(int axis, const Cell& cell) const {
    std::array<double, 3> at{};
    for (int a = 0; a < 3; ++a)
      at[a] = 2 * step_ * (static_cast<double>(cell[a]) + (a == axis ? 1.0 : 0.5)) - 1;
    const auto [x, y, z] = at;
    return {y * (1 - x * x), -x * (1 - y * y), (1 - x * x) * (1 - y * y)};
  }

  Staggered grid_;
  Fluid fluid_;
  double step_;
};

GeneratedMatrix make(int dimension, const GeneratorParameters& parameters, const Fluid& fluid) {
  const Staggered grid(dimension, parameters.integer("n"), parameters.integer("level") == 0);
  return {grid.rows(), [flow = Flow(grid, fluid)](std::int64_t i, RowBuilder& row) { flow.add_row(i, row); }};
}

template <int Dimension>
GeneratedMatrix make_stokes(const GeneratorParameters& parameters) {
  return make(Dimension, parameters,
              {.ratio = parameters.real("ratio"), .blocks = parameters.integer("blocks")});
}

template <int Dimension>
GeneratedMatrix make_oseen(const GeneratorParameters& parameters) {
  return make(Dimension, parameters,
              {.reynolds = parameters.real("reynolds"), .upwind = parameters.integer("upwind") == 1});
}

constexpr GeneratorParameter ratio{"ratio", 1,     1e-9,
                                   1e9,     false, "of the viscosities of the two kinds of block"};
constexpr GeneratorParameter blocks{"blocks", 4, 1, 1e5, true, "blocks per edge"};
constexpr GeneratorParameter reynolds{"reynolds", 100, 0, 1e9, false, "global Reynolds number |w| L / nu"};
constexpr GeneratorParameter upwind{"upwind", 1, 0, 1, true, "1: upwind differences, 0: central"};
constexpr std::array stokes_2d{cells_2d, ratio, blocks, pressure_level};
constexpr std::array stokes_3d{cells_3d, ratio, blocks, pressure_level};
constexpr std::array oseen_2d{cells_2d, reynolds, upwind, pressure_level};
constexpr std::array oseen_3d{cells_3d, reynolds, upwind, pressure_level};

}  // namespace

const Generator stokes2d{"stokes2d", "Stokes flow in a closed square, staggered cells: a saddle point", true,
                         stokes_2d, make_stokes<2>};
const Generator stokes3d{"stokes3d", "Stokes flow in a closed cube, staggered cells: a saddle point", true,
                         stokes_3d, make_stokes<3>};
const Generator oseen2d{"oseen2d", "Oseen flow in a closed square, staggered cells: a saddle point", false,
                        oseen_2d, make_oseen<2>};
const Generator oseen3d{"oseen3d", "Oseen flow in a closed cube, staggered cells: a saddle point", false,
                        oseen_3d, make_oseen<3>};

}  // namespace ayatori::io
