#include <array>

#include "ayatori/io/generators/block_coefficient.hpp"
#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/staggered_cells.hpp"

// Flow through porous rock in a closed square or cube, mixed finite elements of lowest order (Raviart &
// Thomas 1977, on cubes Nedelec 1980): fluxes through the faces between cells, pressures in the cells.
//
//   u / k + grad p = 0,  -div u = f
//
// k is constant in a cell and jumps between blocks. n cells per edge, h = 1 / n; unknowns are the normal
// components of u, and all is divided by the area of a face: the mass matrix has h / k (1/3 1/6; 1/6 1/3)
// from a cell for its two faces along an axis, the divergence 1 and -1. Symmetric: [M B^T; B 0].
//
// Nothing fixes the level of the pressure: the last cell has none (level=1), or the matrix is singular (0).

namespace ayatori::io {

namespace {

struct Problem {
  Staggered grid;
  BlockCoefficient permeability;
  double step;

  void add_row(std::int64_t i, RowBuilder& row) const {
    const auto [axis, cell] = grid.unknown(i);
    if (axis == grid.dimension()) {
      for (int along = 0; along < grid.dimension(); ++along) {
        add_flux(along, beside(cell, along, -1), 1, row);
        add_flux(along, cell, -1, row);
      }
      return;
    }
    const Cell above = beside(cell, axis, 1);
    const double lower = resistance(cell);
    const double upper = resistance(above);
    add_flux(axis, beside(cell, axis, -1), lower / 6, row);
    row.add(i, (lower + upper) / 3);
    add_flux(axis, above, upper / 6, row);
    add_pressure(cell, -1, row);
    add_pressure(above, 1, row);
  }

 private:
  double resistance(const Cell& cell) const {
    return step / permeability.of_cell({cell[0], cell[1], cell[2]});
  }

  void add_flux(int axis, const Cell& cell, double value, RowBuilder& row) const {
    if (grid.is_face(axis, cell)) row.add(grid.number(axis, cell), value);
  }
  void add_pressure(const Cell& cell, double value, RowBuilder& row) const {
    const std::int64_t number = grid.number(grid.dimension(), cell);
    if (number < grid.rows()) row.add(number, value);
  }
};

template <int Dimension>
GeneratedMatrix make(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  const Problem problem{Staggered(Dimension, n, parameters.integer("level") == 0),
                        BlockCoefficient(parameters), 1 / static_cast<double>(n)};
  return {problem.grid.rows(), [=](std::int64_t i, RowBuilder& row) { problem.add_row(i, row); }};
}

constexpr std::array parameters_2d{cells_2d, block_ratio, blocks_per_edge, block_seed, pressure_level};
constexpr std::array parameters_3d{cells_3d, block_ratio, blocks_per_edge, block_seed, pressure_level};

}  // namespace

const Generator darcy2d{"darcy2d", "Flow in porous rock, mixed elements on a square: a saddle point", true,
                        parameters_2d, make<2>};
const Generator darcy3d{"darcy3d", "Flow in porous rock, mixed elements on a cube: a saddle point", true,
                        parameters_3d, make<3>};

}  // namespace ayatori::io
