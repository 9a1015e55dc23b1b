#include "ayatori/collectives/words/word.hpp"

#include <gtest/gtest.h>

#include <set>

#include "ayatori/base/error.hpp"

namespace ayatori::collectives {
namespace {

std::vector<std::string> texts(int digits) {
  std::vector<std::string> list;
  for (const Word& word : hybrid2_words(digits)) list.push_back(to_string(word));
  return list;
}

TEST(Word, AsManyAsSchroederNumbers) {
  EXPECT_EQ(texts(0), std::vector<std::string>{""});
  const std::vector<std::size_t> large_schroeder{2, 6, 22, 90, 394, 1806, 8558};
  for (std::size_t digits = 1; digits <= large_schroeder.size(); ++digits)
    EXPECT_EQ(hybrid2_words(static_cast<int>(digits)).size(), large_schroeder[digits - 1]);
}

/// Imamura, section 3.2.1, lists them.
TEST(Word, ThoseOfThePaper) {
  EXPECT_EQ(texts(2), (std::vector<std::string>{"CC", "CMS", "MCS", "MMSS", "MSC", "MSMS"}));
  const auto three = texts(3);
  const std::set<std::string> paper{
      "CCC",   "MSCC",  "CMSC",  "MCSC",   "MSMSC",  "MMSSC", "CCMS",  "MSCMS", "CMCS",   "MCCS",   "MSMCS",
      "MMSCS", "CMSMS", "MCSMS", "MSMSMS", "MMSSMS", "CMMSS", "MCMSS", "MMCSS", "MSMMSS", "MMSMSS", "MMMSSS"};
  EXPECT_EQ(std::set<std::string>(three.begin(), three.end()), paper);
}

TEST(Word, TheLastLetterIsTheFirstDone) {
  const Word word = parse_word("MMSCCS");
  EXPECT_EQ(word.front(), Letter::split);
  EXPECT_EQ(word[1], Letter::copy);
  EXPECT_EQ(word.back(), Letter::merge);
  EXPECT_EQ(to_string(word), "MMSCCS");
  EXPECT_EQ(digits_of(word), 4);
  EXPECT_EQ(depth_of(word), 2);
  EXPECT_EQ(depth_of(parse_word("MSMSC")), 1);
  EXPECT_EQ(to_string(hybrid1(4, 2)), "MMCCSS");
}

TEST(Word, BadOnesAreNamed) {
  for (const char* text : {"CXC", "M", "SM", "SC", "MSM", "mcs"})
    EXPECT_THROW(parse_word(text), InputError) << text;
  EXPECT_TRUE(parse_word("").empty());
  EXPECT_THROW(hybrid2_words(-1), InputError);
  EXPECT_THROW(hybrid2_words(most_digits + 1), InputError);
}

}  // namespace
}  // namespace ayatori::collectives
