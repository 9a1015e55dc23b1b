#include "ayatori/collectives/schedules/draw.hpp"

#include <gtest/gtest.h>

#include "ayatori/collectives/words/word_schedule.hpp"

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

TEST(Draw, RailsAreNamed) {
  auto plan = make_plan(Operation::broadcast, 2, parse_word("C"), DigitOrder::near_first);
  plan.stripes = 2;
  EXPECT_NE(draw_text(expand(plan)).find("  0->1[0]  0->1[1]\n"), std::string::npos);
  plan.rails = 2;
  EXPECT_EQ(describe(plan), "C of 2; 2 stripes on 2 rails");
  EXPECT_NE(draw_text(expand(plan)).find("  0->1[0]/0  0->1[1]/1\n"), std::string::npos);
  const auto svg = draw_svg(expand(plan), "title");
  EXPECT_NE(svg.find("of the buffer, rail 1<"), std::string::npos);
}

}  // namespace
}  // namespace ayatori::collectives
