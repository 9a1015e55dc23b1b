#include "ayatori/network/cost_model.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"

namespace ayatori::network {
namespace {

TEST(CostModel, FromAPublishedMachine) {
  const auto model = cost_model(machine::load_profile("pc-cluster-gbe"), "pc-cluster-gbe");
  EXPECT_NEAR(model.inside.latency, 25.4e-6, 1e-9);
  EXPECT_NEAR(model.between_latency, 111e-6, 1e-9);
  EXPECT_NEAR(model.link_bandwidth, 8 / 103e-9, 1e3);
  EXPECT_THROW(cost_model(machine::load_profile("altix3700bx2"), "altix"), InputError) << "one node";
}

/// Ports come behind links, and cost their own bandwidth.
TEST(CostModel, RoutesEndWithPorts) {
  CostModel model;
  model.link_bandwidth = 10;
  model.port_bandwidth = 4;
  const auto mesh = make_network("mesh:3", 3);
  const int links = static_cast<int>(mesh->links().size());
  std::vector<int> passed;
  route_with_ports(*mesh, 0, 2, passed);
  ASSERT_EQ(passed.size(), 4);
  EXPECT_EQ(passed[2], links);
  EXPECT_EQ(passed[3], links + 3 + 2);
  const auto seconds = seconds_per_byte(*mesh, model);
  ASSERT_EQ(seconds.size(), links + 6);
  EXPECT_EQ(seconds[passed[0]], 0.1);
  EXPECT_EQ(seconds[passed[3]], 0.25);
  EXPECT_EQ(model.latency(3), model.between_latency + 3 * model.hop_latency);
}

}  // namespace
}  // namespace ayatori::network
