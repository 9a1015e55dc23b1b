#include <array>
#include <cmath>

#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// Elliptic boundary value problems with smooth variable coefficients and first-order terms, after Elman
// (Yale Report 229, 1982; also Saad, Iterative Methods for Sparse Linear Systems, and SPARSKIT):
//
//   -(a u_x)_x - (b u_y)_y + c u_x + (c u)_x + c u_y + (c u)_y + f u = g,
//   a = exp(-xy), b = exp(xy), c = convection (x + y), f = reaction / (1 + xy),
//
// on the unit square with Dirichlet boundary, and in space
//
//   -(a u_x)_x - (b u_y)_y - (a u_z)_z + sum over the axes s of [ c u_s + (c u)_s ] + f u = g,
//   a = exp(-xyz), b = exp(xyz), c = convection (x + y + z), f = reaction / (1 + xyz).
//
// Central differences on n^d inner points, h = 1 / (n + 1), scaled by h^2. Unsymmetric unless convection = 0.
// These are the kinds of problem, and with n = 400 and n = 80 the sizes, of Katagiri et al.'s GMRES(m)
// benchmark. At the defaults in the plane (`ayatori solve elliptic2d-5 --method gmres`, residual 1e-8)
// GMRES(30) takes 16,483 iterations, GMRES(100) 6,503, GMRES(30) with ILU(0) 1,049. Stronger convection is
// easier without preconditioning; from about 1000 on (cell Peclet numbers above 1) ILU(0) fails.
//
// With reaction >= 0 the symmetric part is definite: GMRES(m) is slow at worst, whatever m. A negative
// reaction makes the problem Helmholtz-like, resolved by n = 400 points many times over; in the plane one
// eigenvalue of the symmetric part is negative at -50 (none at -25, two at -60, four at -100), and short
// restarts stagnate. At reaction=-50, one rank: GMRES(30) has a residual of 0.54 after 67,800 iterations, and
// with ILU(0) of 0.067 after 12,130; GMRES(120) with ILU(0) takes 4,645, BiCGSTAB with ILU(0) 838.

namespace ayatori::io {

namespace {

/// Part of the formula that one axis contributes. Diffusion is taken at the half points; the skew part
/// (c_here + c_there) / 2h is exactly antisymmetric between two neighbours.
struct AxisTerms {
  double lower, centre, upper;
};

AxisTerms axis_terms(double diffusion_lower, double diffusion_upper, double c_lower, double c_here,
                     double c_upper, double h) {
  return {-diffusion_lower - h / 2 * (c_here + c_lower), diffusion_lower + diffusion_upper,
          -diffusion_upper + h / 2 * (c_here + c_upper)};
}

Star2 star_at(double x, double y, double h, double convection, double reaction) {
  const auto c = [&](double s) { return convection * s; };
  const double s = x + y;
  const AxisTerms along_x =
      axis_terms(std::exp(-(x - h / 2) * y), std::exp(-(x + h / 2) * y), c(s - h), c(s), c(s + h), h);
  const AxisTerms along_y =
      axis_terms(std::exp(x * (y - h / 2)), std::exp(x * (y + h / 2)), c(s - h), c(s), c(s + h), h);
  return {along_y.lower, along_x.lower, along_x.centre + along_y.centre + h * h * reaction / (1 + x * y),
          along_x.upper, along_y.upper};
}

Star3 star_at(double x, double y, double z, double h, double convection, double reaction) {
  const auto c = [&](double s) { return convection * s; };
  const double s = x + y + z;
  const auto along = [&](double sign, double t, double others) {
    return axis_terms(std::exp(sign * (t - h / 2) * others), std::exp(sign * (t + h / 2) * others), c(s - h),
                      c(s), c(s + h), h);
  };
  const AxisTerms along_x = along(-1, x, y * z);
  const AxisTerms along_y = along(+1, y, x * z);
  const AxisTerms along_z = along(-1, z, x * y);
  const double centre = along_x.centre + along_y.centre + along_z.centre + h * h * reaction / (1 + x * y * z);
  return {along_z.lower, along_y.lower, along_x.lower, centre, along_x.upper, along_y.upper, along_z.upper};
}

GeneratedMatrix make_2d(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  const double convection = parameters.real("convection");
  const double reaction = parameters.real("reaction");
  const double h = 1.0 / static_cast<double>(n + 1);
  return {n * n, [=](std::int64_t i, RowBuilder& row) {
            const Point2 p = point2(i, n);
            const double x = h * static_cast<double>(p.x + 1);
            const double y = h * static_cast<double>(p.y + 1);
            add_star(row, i, p, n, star_at(x, y, h, convection, reaction));
          }};
}

GeneratedMatrix make_3d(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  const double convection = parameters.real("convection");
  const double reaction = parameters.real("reaction");
  const double h = 1.0 / static_cast<double>(n + 1);
  return {n * n * n, [=](std::int64_t i, RowBuilder& row) {
            const Point3 p = point3(i, n);
            const double x = h * static_cast<double>(p.x + 1);
            const double y = h * static_cast<double>(p.y + 1);
            const double z = h * static_cast<double>(p.z + 1);
            add_star(row, i, p, n, star_at(x, y, z, h, convection, reaction));
          }};
}

constexpr GeneratorParameter convection{
    "convection", 1, 0, 1e6, false, "strength of the first-order terms against diffusion"};
constexpr GeneratorParameter reaction{
    "reaction", 1,     -1e6,
    1e6,        false, "strength of the term in u; negative: Helmholtz-like, perhaps indefinite"};
constexpr std::array parameters_2d{
    GeneratorParameter{"n", 400, 1, max_edge_2d, true, "points per edge; n^2 unknowns"}, convection,
    reaction};
constexpr std::array parameters_3d{
    GeneratorParameter{"n", 80, 1, max_edge_3d, true, "points per edge; n^3 unknowns"}, convection, reaction};

}  // namespace

const Generator elliptic2d_5{"elliptic2d-5",
                             "Elman's variable-coefficient elliptic problem on a square, 5 points", false,
                             parameters_2d, make_2d};
const Generator elliptic3d_7{"elliptic3d-7",
                             "Elman's variable-coefficient elliptic problem on a cube, 7 points", false,
                             parameters_3d, make_3d};

}  // namespace ayatori::io
