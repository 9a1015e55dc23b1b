#include <algorithm>
#include <array>
#include <cmath>

#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// Convection and diffusion: -Laplace(u) + peclet (w . grad u) = g on the unit square or cube, Dirichlet
// boundary, n^d inner points, h = 1 / (n + 1), scaled by h^2.
//
// The wind w is free of divergence and at most 1 long, so that `peclet` is the global Peclet number
// |w| L / diffusion with L = 1; that of a cell is peclet * h / 2. With X = 2x - 1 etc.:
//   recirculating=1   w = (Y (1 - X^2), -X (1 - Y^2) [, (1 - X^2)(1 - Y^2)]), a vortex, in space a helix
//   recirculating=0   w = (2, 1) / sqrt(5), in space (2, 2, 1) / 3
// Differences of w . grad u: upwind=1, of first order against the wind: an M-matrix at any Peclet number;
// upwind=0, central: second order, no longer diagonally dominant where the cell Peclet number passes 1.

namespace ayatori::io {

namespace {

struct Wind {
  double x, y, z;
};

Wind recirculating_wind(double x, double y) {
  return {y * (1 - x * x), -x * (1 - y * y), (1 - x * x) * (1 - y * y)};
}

/// What the formula of -u_ss + strength u_s along one axis says of the neighbours; the centre is minus their
/// sum, plus the derivative of w, which is zero in sum.
struct AxisTerms {
  double lower, upper;
};

AxisTerms axis_terms(double strength, bool upwind) {
  if (upwind) return {-1 - std::max(strength, 0.0), -1 + std::min(strength, 0.0)};
  return {-1 - strength / 2, -1 + strength / 2};
}

struct Problem {
  explicit Problem(const GeneratorParameters& parameters)
      : n(parameters.integer("n")),
        step(1.0 / static_cast<double>(n + 1)),
        strength(parameters.real("peclet") * step),
        upwind(parameters.integer("upwind") == 1),
        recirculating(parameters.integer("recirculating") == 1) {}

  /// From grid index to [-1, 1].
  double centred(std::int64_t index) const { return 2 * step * static_cast<double>(index + 1) - 1; }
  AxisTerms terms(double wind) const { return axis_terms(strength * wind, upwind); }

  std::int64_t n;
  double step;
  double strength;
  bool upwind;
  bool recirculating;
};

GeneratedMatrix make_2d(const GeneratorParameters& parameters) {
  const Problem problem(parameters);
  const Wind constant{2 / std::sqrt(5.0), 1 / std::sqrt(5.0), 0};
  return {problem.n * problem.n, [=](std::int64_t i, RowBuilder& row) {
            const Point2 p = point2(i, problem.n);
            const Wind w = problem.recirculating
                               ? recirculating_wind(problem.centred(p.x), problem.centred(p.y))
                               : constant;
            const AxisTerms x = problem.terms(w.x);
            const AxisTerms y = problem.terms(w.y);
            const double centre = -(x.lower + x.upper + y.lower + y.upper);
            add_star(row, i, p, problem.n, {y.lower, x.lower, centre, x.upper, y.upper});
          }};
}

GeneratedMatrix make_3d(const GeneratorParameters& parameters) {
  const Problem problem(parameters);
  const Wind constant{2.0 / 3, 2.0 / 3, 1.0 / 3};
  return {problem.n * problem.n * problem.n, [=](std::int64_t i, RowBuilder& row) {
            const Point3 p = point3(i, problem.n);
            const Wind w = problem.recirculating
                               ? recirculating_wind(problem.centred(p.x), problem.centred(p.y))
                               : constant;
            const AxisTerms x = problem.terms(w.x);
            const AxisTerms y = problem.terms(w.y);
            const AxisTerms z = problem.terms(w.z);
            const double centre = -(x.lower + x.upper + y.lower + y.upper + z.lower + z.upper);
            add_star(row, i, p, problem.n, {z.lower, y.lower, x.lower, centre, x.upper, y.upper, z.upper});
          }};
}

constexpr GeneratorParameter peclet{"peclet", 100, 0, 1e9, false, "global Peclet number |w| L / diffusion"};
constexpr GeneratorParameter upwind{"upwind", 1, 0, 1, true, "1: upwind differences, 0: central"};
constexpr GeneratorParameter recirculating{"recirculating", 1, 0, 1, true, "1: a vortex, 0: a constant wind"};
constexpr std::array parameters_2d{
    GeneratorParameter{"n", 200, 1, max_edge_2d, true, "points per edge; n^2 unknowns"}, peclet, upwind,
    recirculating};
constexpr std::array parameters_3d{
    GeneratorParameter{"n", 64, 1, max_edge_3d, true, "points per edge; n^3 unknowns"}, peclet, upwind,
    recirculating};

}  // namespace

const Generator convection2d{"convection2d", "Convection and diffusion on a square, 5 points", false,
                             parameters_2d, make_2d};
const Generator convection3d{"convection3d", "Convection and diffusion on a cube, 7 points", false,
                             parameters_3d, make_3d};

}  // namespace ayatori::io
