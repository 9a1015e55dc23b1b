#include "ayatori/solvers/preconditioners/multigrid/near_null.hpp"

#include <array>
#include <cmath>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/multigrid/gershgorin.hpp"

namespace ayatori::solvers::amg {

namespace {

constexpr double poor_fit = 0.1;  // share of the largest possible quotient, about 1
constexpr double better = 0.25;
constexpr int steps = 40;
constexpr double interval = 100;  // what is below the largest eigenvalue over this is kept

/// A vector on a grid, with room for its ghosts, and the matrix times it.
struct Product {
  explicit Product(const Grid<1>& on)
      : grid(on),
        v(on.layout.all()),
        av(on.layout.own()),
        exchange(on.layout, 1, on.layout.all(), on.layout.own()) {}

  /// Collective. av = A v
  void multiply() {
    exchange.fetch(v.data());
    const BlockCsr<1>& a = grid.matrix;
    parallel_for(a.rows, [&](std::int64_t i) {
      double sum = 0;
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) sum += a.value[k] * v[a.column[k]];
      av[i] = sum;
    });
  }

  /// Collective. v^T A v / v^T v
  double rayleigh_quotient() {
    multiply();
    auto sums = parallel_sums<2>(grid.layout.own(), [&](Range range) {
      std::array<double, 2> part{};
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        part[0] += v[i] * av[i];
        part[1] += v[i] * v[i];
      }
      return part;
    });
    grid.layout.comm.allreduce(std::span<double>(sums), comm::ReduceOp::sum);
    return sums[1] > 0 ? sums[0] / sums[1] : 0;
  }

  const Grid<1>& grid;
  Array<double> v;
  Array<double> av;
  GhostExchange<double> exchange;
};

/// Collective. Chebyshev iteration for A v = 0 (Saad, Iterative Methods, algorithm 12.1).
void relax(Product& product, double largest) {
  const double centre = largest * (1 + 1 / interval) / 2;
  const double radius = largest * (1 - 1 / interval) / 2;
  const double sigma = centre / radius;
  double rho = 1 / sigma;
  Array<double> step =
      comm::agree(product.grid.layout.comm, [&] { return Array<double>(product.grid.layout.own(), 0.0); });
  for (int k = 0; k < steps; ++k) {
    double keep = 0;
    double gain = 1 / centre;
    if (k > 0) {
      const double next = 1 / (2 * sigma - rho);
      keep = next * rho;
      gain = 2 * next / radius;
      rho = next;
    }
    product.multiply();
    parallel_for(product.grid.layout.own(), [&](std::int64_t i) {
      step[i] = keep * step[i] - gain * product.av[i];
      product.v[i] += step[i];
    });
  }
}

}  // namespace

bool relax_near_null(FineGrid<1>& fine) {
  Grid<1>& grid = fine.grid;
  const std::int64_t own = grid.layout.own();
  auto product = comm::agree(grid.layout.comm, [&] { return Product(grid); });
  std::ranges::copy(grid.near_null, product.v.begin());
  const double quotient = product.rayleigh_quotient();
  if (!(quotient > poor_fit)) return false;

  const double largest = gershgorin(grid);
  parallel_for(own, [&](std::int64_t i) { product.v[i] = random_uniform(2, grid.layout.first() + i) - 0.5; });
  relax(product, largest);
  if (!(product.rayleigh_quotient() < better * quotient)) return false;

  const auto sign = [&](std::int64_t j) { return product.v[j] < 0 ? -1.0 : 1.0; };
  BlockCsr<1>& a = grid.matrix;
  parallel_for(own, [&](std::int64_t i) {
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      a.value[k] *= sign(i) * sign(a.column[k]);
    fine.scale[i] *= sign(i);
    grid.near_null[i] = std::abs(product.v[i]);
  });
  return true;
}

}  // namespace ayatori::solvers::amg
