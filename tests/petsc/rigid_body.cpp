#include "petsc/rigid_body.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "world.hpp"

namespace ayatori::petsc {
namespace {

using Modes = std::vector<std::vector<double>>;

struct Body {
  std::vector<double> x;  ///< `dimension` values per own node
  Modes modes;            ///< in some basis
};

/// This many nodes per rank at random places; `flat`: in a plane of space.
Body make_body(int dimension, int nodes, bool flat) {
  std::mt19937 draw(7 + world().rank());
  std::mt19937 same(11);
  std::uniform_real_distribution<double> place(0, 3);
  Body body;
  for (int i = 0; i < nodes * dimension; ++i)
    body.x.push_back(flat && i % dimension == dimension - 1 ? 1 : place(draw));
  Modes plain;
  for (int axis = 0; axis < dimension; ++axis) {
    plain.emplace_back(body.x.size(), 0.0);
    for (int i = 0; i < nodes; ++i) plain.back()[dimension * i + axis] = 1;
  }
  for (int p = 0; p < dimension; ++p)
    for (int q = p + 1; q < dimension; ++q) {
      plain.emplace_back(body.x.size(), 0.0);
      for (int i = 0; i < nodes; ++i) {
        plain.back()[dimension * i + p] = -body.x[dimension * i + q];
        plain.back()[dimension * i + q] = body.x[dimension * i + p];
      }
    }
  for (std::size_t k = 0; k < plain.size(); ++k) {
    body.modes.emplace_back(body.x.size(), 0.0);
    for (const auto& mode : plain) {
      const double weight = place(same) - 1.5;
      for (std::size_t i = 0; i < mode.size(); ++i) body.modes.back()[i] += weight * mode[i];
    }
  }
  return body;
}

/// |cosine| of the angle between x about the centre of all nodes and what was recovered.
double likeness(const std::vector<double>& x, const std::vector<double>& found, int dimension) {
  const auto& comm = world();
  std::vector<double> mean(dimension + 1, 0);
  for (std::size_t i = 0; i < x.size(); ++i) mean[i % dimension] += x[i];
  mean[dimension] = static_cast<double>(x.size()) / dimension;
  comm.allreduce(std::span<double>(mean), comm::ReduceOp::sum);
  std::array<double, 3> products{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double mine = x[i] - mean[i % dimension] / mean[dimension];
    products[0] += mine * mine;
    products[1] += found[i] * found[i];
    products[2] += mine * found[i];
  }
  comm.allreduce(std::span<double>(products), comm::ReduceOp::sum);
  return std::abs(products[2]) / std::sqrt(products[0] * products[1]);
}

TEST(RigidBody, coordinates_come_from_modes_in_any_basis) {
  for (int dimension : {2, 3}) {
    const auto body = make_body(dimension, 40, false);
    std::vector<double> x;
    ASSERT_TRUE(recover_coordinates(world(), dimension, body.modes, x));
    EXPECT_NEAR(likeness(body.x, x, dimension), 1, 1e-9);
  }
}

TEST(RigidBody, flat_bodies_are_right_or_refused) {
  const auto body = make_body(3, 40, true);
  std::vector<double> x;
  if (!recover_coordinates(world(), 3, body.modes, x)) return;
  EXPECT_NEAR(likeness(body.x, x, 3), 1, 1e-9);
}

TEST(RigidBody, other_vectors_are_refused) {
  for (int dimension : {2, 3}) {
    auto body = make_body(dimension, 40, false);
    std::vector<double> x;
    auto bent = body.modes;
    for (std::size_t i = 0; i < bent[0].size(); ++i) bent[0][i] += 0.1 * body.x[i] * body.x[i];
    EXPECT_FALSE(recover_coordinates(world(), dimension, bent, x));
    auto missing = body.modes;
    missing.pop_back();
    EXPECT_FALSE(recover_coordinates(world(), dimension, missing, x));
    auto still = body.modes;
    for (auto& mode : still) mode.assign(mode.size(), 1);
    EXPECT_FALSE(recover_coordinates(world(), dimension, still, x));
  }
}

}  // namespace
}  // namespace ayatori::petsc
