#include "ayatori/collectives/draw.hpp"

#include <gtest/gtest.h>

#include "ayatori/collectives/word_schedule.hpp"

namespace ayatori::collectives {
namespace {

TEST(Draw, EveryMessageOfEveryStage) {
  const auto text =
      draw_text(expand(make_plan(Operation::broadcast, 4, parse_word("MCS"), DigitOrder::near_first)));
  EXPECT_NE(text.find("stage  1: 1 message of up to 1/2\n  0->1[1]"), std::string::npos) << text;
  EXPECT_NE(text.find("0->2[0]  1->3[1]"), std::string::npos) << text;
  const auto sums =
      draw_text(expand(make_plan(Operation::allreduce, 2, parse_word("C"), DigitOrder::near_first)));
  EXPECT_NE(sums.find("0+>1  1+>0"), std::string::npos) << sums;
}

TEST(Draw, ThePictureHasAnArrowForEveryMessage) {
  const auto svg = draw_svg(
      expand(make_plan(Operation::broadcast, 8, parse_word("CCC"), DigitOrder::near_first)), "title");
  std::size_t arrows = 0;
  for (std::size_t at = svg.find("marker-end"); at != std::string::npos; at = svg.find("marker-end", at + 1))
    ++arrows;
  EXPECT_EQ(arrows, 7U);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

}  // namespace
}  // namespace ayatori::collectives
