#include "ayatori/base/printable.hpp"

#include <gtest/gtest.h>

namespace ayatori {
namespace {

TEST(Printable, KeepsText) {
  for (const char* text : {"", "A.mtx", "Größe", "行列", "𝔸", "a b"}) EXPECT_EQ(printable(text), text);
}

TEST(Printable, StopsWhatSteersATerminal) {
  EXPECT_EQ(printable("\x1b[31mred\x07\n\t\x7f"), "?[31mred????");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m"),
            "a?31m")
      << "an escape sequence in one character";
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a?b")
      << "written from right to left";
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
}

TEST(Printable, StopsWhatIsNoText) {
  EXPECT_EQ(printable("\x9b\xff\x80"), "???");
  EXPECT_EQ(printable("caf\xe9"), "caf?");
  EXPECT_EQ(printable("\xc0\xaf"), "??") << "longer than need be";
  EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "half of a pair";
  EXPECT_EQ(printable("\xe2\x82"), "??") << "cut off";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");
}

TEST(Printable, IsCut) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcdef...");
  EXPECT_EQ(printable("Größe", 3), "Gr...") << "never inside a character";
}

}  // namespace
}  // namespace ayatori
