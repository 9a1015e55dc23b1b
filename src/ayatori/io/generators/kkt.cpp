#include <array>
#include <cmath>
#include <numbers>

#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// A step of an interior-point method for optimal control of Poisson's equation with bounds (Hinze, Pinnau,
// Ulbrich & Ulbrich, Optimization with PDE Constraints, 2009): state y and control u, adjoint p,
//
//   [ h^2 (1 + S_y)                     K   ]
//   [               h^2 (beta + S_u)  -h^2  ]      K = h^2 (-Laplace), 5 points, Dirichlet boundary
//   [ K             -h^2                    ]
//
// on n^2 inner points, h = 1 / (n + 1); symmetric indefinite. S = mu / s^2 with the slack s of a bound on the
// central path of s - mu / s = d: where d > 0, the bound is inactive and S is about mu, where d < 0 it is
// active and S about 1 / mu, so that a late iteration spans mu to 1 / mu. d is a wave, of its own for state
// and control; a fifth of the points are active. Unknowns y, u, p of a point stand together.

namespace ayatori::io {

namespace {

double barrier(double mu, double d) {
  const double root = std::hypot(d, 2 * std::sqrt(mu));
  const double slack = d >= 0 ? (d + root) / 2 : 2 * mu / (root - d);
  return mu / (slack * slack);
}

struct Problem {
  std::int64_t n;
  double mu;
  double beta;

  void add_row(std::int64_t i, RowBuilder& row) const {
    const Point2 p = point2(i / 3, n);
    const double step = 1 / static_cast<double>(n + 1);
    const double square = step * step;
    const double x = static_cast<double>(p.x + 1) * step;
    const double y = static_cast<double>(p.y + 1) * step;
    const std::int64_t first = i - i % 3;
    constexpr double pi = std::numbers::pi;
    switch (i % 3) {
      case 0:
        row.add(first, square * (1 + barrier(mu, 0.5 - std::sin(pi * x) * std::sin(3 * pi * y))));
        add_laplace(p, first + 2, row);
        return;
      case 1:
        row.add(first + 1, square * (beta + barrier(mu, 0.3 - std::sin(2 * pi * x) * std::cos(2 * pi * y))));
        row.add(first + 2, -square);
        return;
      default:
        add_laplace(p, first, row);
        row.add(first + 1, -square);
    }
  }

 private:
  void add_laplace(const Point2& p, std::int64_t column, RowBuilder& row) const {
    if (p.y > 0) row.add(column - 3 * n, -1);
    if (p.x > 0) row.add(column - 3, -1);
    row.add(column, 4);
    if (p.x < n - 1) row.add(column + 3, -1);
    if (p.y < n - 1) row.add(column + 3 * n, -1);
  }
};

GeneratedMatrix make(const GeneratorParameters& parameters) {
  const Problem problem{parameters.integer("n"), parameters.real("mu"), parameters.real("beta")};
  return {3 * problem.n * problem.n, [=](std::int64_t i, RowBuilder& row) { problem.add_row(i, row); }};
}

constexpr std::array parameters{
    GeneratorParameter{"n", 80, 1, max_edge_2d, true, "inner points per edge; 3 n^2 unknowns"},
    GeneratorParameter{"mu", 1e-6, 1e-16, 1, false, "of the barrier: small in late iterations"},
    GeneratorParameter{"beta", 1e-3, 0, 1e3, false, "cost of the control"}};

}  // namespace

const Generator kkt{"kkt", "Optimal control with bounds, an interior-point step: a saddle point", true,
                    parameters, make};

}  // namespace ayatori::io
