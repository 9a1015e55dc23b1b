#include "petsc/rigid_body.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

// A rigid body mode is v(x) = a + w x (x - c), with the centre c of all nodes. Less its mean it is w x (x -
// c) alone, so that of all modes of a body in space three remain, in some basis, and one of a body in a
// plane.

namespace ayatori::petsc {

namespace {

using Matrix = std::vector<std::vector<double>>;

/// Eigenvalues of a small symmetric matrix, the largest first, and eigenvectors, by rows: Jacobi's method.
std::pair<std::vector<double>, Matrix> eigen(Matrix a) {
  const std::size_t n = a.size();
  Matrix v(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i) v[i][i] = 1;
  constexpr int enough = 60;
  for (int sweep = 0; sweep < enough; ++sweep) {
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p][q] == 0) continue;
        const double angle = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]);
        const double c = std::cos(angle);
        const double s = std::sin(angle);
        for (std::size_t k = 0; k < n; ++k) {
          const double of_p = a[k][p];
          a[k][p] = c * of_p - s * a[k][q];
          a[k][q] = s * of_p + c * a[k][q];
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double of_p = a[p][k];
          a[p][k] = c * of_p - s * a[q][k];
          a[q][k] = s * of_p + c * a[q][k];
          const double v_p = v[p][k];
          v[p][k] = c * v_p - s * v[q][k];
          v[q][k] = s * v_p + c * v[q][k];
        }
      }
    }
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t i, std::size_t j) { return a[i][i] > a[j][j]; });
  std::pair<std::vector<double>, Matrix> result;
  for (const auto i : order) {
    result.first.push_back(a[i][i]);
    result.second.push_back(v[i]);
  }
  return result;
}

double dot(const comm::Comm& comm, std::span<const double> a, std::span<const double> b) {
  return comm.allreduce(std::inner_product(a.begin(), a.end(), b.begin(), 0.0), comm::ReduceOp::sum);
}

/// Takes the mean of each component away.
void center(const comm::Comm& comm, int dimension, std::vector<double>& mode) {
  const auto nodes = static_cast<std::int64_t>(mode.size()) / dimension;
  const auto all = static_cast<double>(comm.allreduce(nodes, comm::ReduceOp::sum));
  for (int axis = 0; axis < dimension; ++axis) {
    double sum = 0;
    for (std::int64_t i = 0; i < nodes; ++i) sum += mode[dimension * i + axis];
    const double mean = comm.allreduce(sum, comm::ReduceOp::sum) / all;
    for (std::int64_t i = 0; i < nodes; ++i) mode[dimension * i + axis] -= mean;
  }
}

/// The axis about which a mode turns: what it never moves along. False where there is no single one.
bool find_axis(const comm::Comm& comm, std::span<const double> mode, std::array<double, 3>& axis) {
  Matrix covariance(3, std::vector<double>(3, 0));
  for (std::size_t i = 0; i < mode.size(); i += 3)
    for (int p = 0; p < 3; ++p)
      for (int q = 0; q < 3; ++q) covariance[p][q] += mode[i + p] * mode[i + q];
  for (auto& row : covariance) comm.allreduce(std::span<double>(row), comm::ReduceOp::sum);
  const auto [value, vector] = eigen(covariance);
  std::ranges::copy(vector[2], axis.begin());
  constexpr double nothing = 1e-8;
  constexpr double something = 1e-4;
  return value[2] < nothing * value[0] && value[1] > something * value[0];
}

using Axes = std::array<std::array<double, 3>, 3>;

/// x of a body in space from its three turns u_k = s_k axis_k x x: the scales s_k by how two of them fit,
/// then x by least squares. False where they do not fit.
bool solve_turns(const comm::Comm& comm, const std::array<std::vector<double>, 3>& turn, const Axes& axis,
                 std::vector<double>& x) {
  const auto along = [&](int of, int axis_of) {
    std::vector<double> part(turn[of].size() / 3);
    for (std::size_t i = 0; i < part.size(); ++i)
      for (int c = 0; c < 3; ++c) part[i] += axis[axis_of][c] * turn[of][3 * i + c];
    return part;
  };
  std::array<double, 3> scale{1, 0, 0};
  for (int k = 1; k < 3; ++k) {
    const auto mine = along(k, 0);
    const auto other = along(0, k);
    scale[k] = -dot(comm, mine, other) / dot(comm, other, other);
  }
  // The normal matrix of u_k = s_k axis_k x x, k = 0, 1, 2.
  Matrix normal(3, std::vector<double>(3, 0));
  for (int k = 0; k < 3; ++k)
    for (int p = 0; p < 3; ++p)
      for (int q = 0; q < 3; ++q)
        normal[p][q] += scale[k] * scale[k] * ((p == q ? 1 : 0) - axis[k][p] * axis[k][q]);
  const auto [value, vector] = eigen(normal);
  if (!(value[2] > 1e-8 * value[0])) return false;
  const auto cross = [](const std::array<double, 3>& a, const double* b) {
    return std::array<double, 3>{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                                 a[0] * b[1] - a[1] * b[0]};
  };
  x.assign(turn[0].size(), 0);
  double missed = 0;
  double all = 0;
  for (std::size_t i = 0; i < x.size(); i += 3) {
    std::array<double, 3> right{};
    for (int k = 0; k < 3; ++k) {
      const auto part = cross(axis[k], &turn[k][i]);  // (axis x .)^T u = -axis x u
      for (int c = 0; c < 3; ++c) right[c] -= scale[k] * part[c];
    }
    for (int e = 0; e < 3; ++e) {
      const double weight =
          (vector[e][0] * right[0] + vector[e][1] * right[1] + vector[e][2] * right[2]) / value[e];
      for (int c = 0; c < 3; ++c) x[i + c] += weight * vector[e][c];
    }
    for (int k = 0; k < 3; ++k) {
      const auto turned = cross(axis[k], &x[i]);
      for (int c = 0; c < 3; ++c) {
        missed += std::pow(scale[k] * turned[c] - turn[k][i + c], 2);
        all += std::pow(turn[k][i + c], 2);
      }
    }
  }
  std::array<double, 2> sums{missed, all};
  comm.allreduce(std::span<double>(sums), comm::ReduceOp::sum);
  return sums[0] <= 1e-10 * sums[1];
}

}  // namespace

bool recover_coordinates(const comm::Comm& comm, int dimension, std::vector<std::vector<double>> modes,
                         std::vector<double>& x) {
  const std::size_t turns = dimension == 3 ? 3 : 1;
  if (modes.size() != turns + dimension) return false;
  for (auto& mode : modes) {
    const double norm = std::sqrt(dot(comm, mode, mode));
    if (!(norm > 0) || !std::isfinite(norm)) return false;
    for (auto& value : mode) value /= norm;
    center(comm, dimension, mode);
  }
  Matrix gram(modes.size(), std::vector<double>(modes.size()));
  for (std::size_t i = 0; i < modes.size(); ++i)
    for (std::size_t j = 0; j < modes.size(); ++j) gram[i][j] = dot(comm, modes[i], modes[j]);
  const auto [value, vector] = eigen(gram);
  constexpr double nothing = 1e-10;
  constexpr double something = 1e-6;
  if (!(value[0] > nothing) || !(value[turns - 1] > something * value[0]) ||
      !(value[turns] < nothing * value[0]))
    return false;
  std::array<std::vector<double>, 3> turn;
  for (std::size_t k = 0; k < turns; ++k) {
    turn[k].assign(modes[0].size(), 0);
    for (std::size_t m = 0; m < modes.size(); ++m)
      for (std::size_t i = 0; i < turn[k].size(); ++i) turn[k][i] += vector[k][m] * modes[m][i];
  }
  if (dimension == 2) {  // turned by a quarter
    x.resize(turn[0].size());
    for (std::size_t i = 0; i < x.size(); i += 2) {
      x[i] = turn[0][i + 1];
      x[i + 1] = -turn[0][i];
    }
    return true;
  }
  Axes axis{};
  for (int k = 0; k < 3; ++k)
    if (!find_axis(comm, turn[k], axis[k])) return false;
  return solve_turns(comm, turn, axis, x);
}

}  // namespace ayatori::petsc
