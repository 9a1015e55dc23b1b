#include "ayatori/network/simgrid_platform.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ayatori/base/error.hpp"

namespace ayatori::network {
namespace {

std::ptrdiff_t lines_with(const std::string& text, const std::string& word) {
  std::ptrdiff_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(SimgridPlatform, HasARouteForEveryPairOfNodesAndTheirWidths) {
  CostModel model;
  model.link_bandwidth = 4e9;
  model.port_bandwidth = 3e9;
  model.hop_latency = 0.25e-6;
  const auto network = make_network("fat-tree:2:1", 4);
  const auto text = simgrid_platform(*network, model, 4, 16);
  EXPECT_EQ(lines_with(text, "<host id="), 4);
  EXPECT_EQ(lines_with(text, "core=\"16\""), 4);
  EXPECT_EQ(lines_with(text, "<route "), 4 * 4);
  EXPECT_EQ(lines_with(text, "<link id="), 1 + 2 * 4 + std::ssize(network->links()));
  EXPECT_NE(text.find("<link id=\"out0\" bandwidth=\"3000000000Bps\" latency=\"0s\""), std::string::npos);
  EXPECT_EQ(lines_with(text, "bandwidth=\"4000000000Bps\" latency=\"2.5e-07s\""), 8) << "to leaves";
  EXPECT_EQ(lines_with(text, "bandwidth=\"8000000000Bps\""), 4) << "to the root";
  std::string far = "<route src=\"node-0\" dst=\"node-3\" symmetrical=\"NO\"><link_ctn id=\"out0\"/>";
  std::vector<int> way;
  network->route(0, 3, way);
  EXPECT_EQ(way.size(), 4U);
  for (const int link : way) far += fmt::format("<link_ctn id=\"{}\"/>", link);
  EXPECT_NE(text.find(far + "<link_ctn id=\"in3\"/></route>"), std::string::npos);
}

TEST(SimgridPlatform, IsRefusedWhereItsRoutesWouldFillTheMemory) {
  const auto network = make_network("torus:33x33", 33 * 33);
  EXPECT_THROW(simgrid_platform(*network, CostModel(), 33 * 33, 1), InputError);
}

}  // namespace
}  // namespace ayatori::network
