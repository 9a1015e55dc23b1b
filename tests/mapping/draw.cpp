#include "ayatori/mapping/draw.hpp"

#include <gtest/gtest.h>

#include "ayatori/mapping/placement.hpp"
#include "graphs.hpp"

namespace ayatori::mapping {
namespace {

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(Draw, ACellForEveryPairThatTalksAndALineForEveryLink) {
  const CommGraph graph(4, std::vector<PairVolume>{{0, 1, 1, 10}, {2, 3, 1, 10}, {3, 0, 1, 10}});
  const auto network = network::make_network("mesh:2", 2);
  const Evaluation order(graph, *network, network::CostModel(), in_order(4, 2));
  const Evaluation round(graph, *network, network::CostModel(), dealt_round(in_order(4, 2)));
  const auto svg = draw_svg(order, round, "a < b");
  EXPECT_EQ(count(svg, "<rect"), 1 + 2 * (1 + 3)) << "the ground, two frames, three cells each";
  EXPECT_EQ(count(svg, "L"), 2 * 2) << "two directions of a link, twice";
  EXPECT_NE(svg.find("in the order of ranks: 66.7 % of messages"), std::string::npos);
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

}  // namespace
}  // namespace ayatori::mapping
