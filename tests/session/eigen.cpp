#include "ayatori/session/eigen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "ayatori/base/error.hpp"
#include "world.hpp"

namespace ayatori::session {
namespace {

Session quiet_session() {
  return begin_session(world(), {.threads = 1, .profile = "none", .collectives = "none"});
}

EigenRequest smallest(std::int64_t count) {
  EigenRequest request;
  request.selection = {.kind = eigen::Selection::Kind::smallest, .count = count};
  return request;
}

/// An eigenvalue of the Laplacian of an n x n grid, in multiples of 4 sin^2.
double eigenvalue(int i, int j, int n) {
  const auto part = [n](int k) { return 4 * std::pow(std::sin(k * std::numbers::pi / (2 * (n + 1))), 2); };
  return part(i) + part(j);
}

TEST(SessionEigen, AFewPairsOfASparseMatrixComeByProducts) {
  const auto session = quiet_session();
  auto a = load_eigen_matrix(session.comm, "poisson2d-5:n=40");
  EXPECT_EQ(a.rows, 1600);
  const auto run = solve_eigen(session, std::move(a), {}, smallest(2));
  ASSERT_TRUE(run.sparse.has_value());
  EXPECT_TRUE(run.passed());
  EXPECT_NEAR(run.values()[0], eigenvalue(1, 1, 40), 1e-11);
  EXPECT_NEAR(run.values()[1], eigenvalue(1, 2, 40), 1e-11);
  EXPECT_EQ(to_json(run).at("method"), "davidson");
  EXPECT_NE(summary(run).find("davidson"), std::string::npos);
}

TEST(SessionEigen, AllOfATestMatrixByTheDenseSolver) {
  const auto session = quiet_session();
  auto request = EigenRequest();
  request.block = 8;
  const auto run = solve_eigen(session, load_eigen_matrix(session.comm, "random:n=30"), {}, request);
  ASSERT_TRUE(run.dense.has_value());
  EXPECT_TRUE(run.passed());
  EXPECT_EQ(run.values().size(), 30U);
  EXPECT_EQ(run.block, 8);
  EXPECT_EQ(to_json(run).at("method"), "dense");
}

TEST(SessionEigen, OfElementsThatEveryRankCanBeAskedFor) {
  const auto session = quiet_session();
  EigenMatrix matrix{.name = "line", .rows = 20, .element = [](std::int64_t i, std::int64_t j) {
                       return i == j ? 2.0 : std::abs(i - j) == 1 ? -1.0 : 0.0;
                     }};
  const auto run = solve_eigen(session, std::move(matrix), {}, EigenRequest());
  for (int k = 1; k <= 20; ++k)
    EXPECT_NEAR(run.values()[k - 1], 4 * std::pow(std::sin(k * std::numbers::pi / 42), 2), 1e-13);
}

TEST(SessionEigen, WhatMeansNothingIsRefused) {
  const auto session = quiet_session();
  const auto refuse = [&](const EigenRequest& request) {
    EXPECT_THROW(solve_eigen(session, load_eigen_matrix(session.comm, "random:n=30"), {}, request),
                 InputError);
  };
  auto request = EigenRequest();
  request.method = "davidson";  // a method for some pairs, asked for all
  refuse(request);
  request = smallest(31);
  refuse(request);
  request = EigenRequest();
  request.tolerance = -1;
  refuse(request);
}

}  // namespace
}  // namespace ayatori::session
