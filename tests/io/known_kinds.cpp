#include "ayatori/io/known_kinds.hpp"

#include "error_text.hpp"

namespace ayatori::io {
namespace {

using namespace std::string_literals;

std::string describe(const std::string& beginning) {
  const std::string text = describe_unreadable(beginning, "X, Y");
  for (const char c : text) EXPECT_TRUE(c >= ' ' && c <= '~') << text;
  return text;
}

TEST(KnownKinds, AreNamedWithWhatHelps) {
  EXPECT_EQ(describe("MATLAB 7.3 MAT-file, Platform: GLNXA64"),
            "this is a MATLAB 7.3 file (HDF5), which is not read: in MATLAB: save('A.mat', 'A', '-v7'); "
            "in Python, with h5py: ayatori.save('A.npz', ayatori.load('A.mat'))");
  EXPECT_TRUE(contains(describe("\x89HDF\r\n\x1a\n\0\0"s),
                       "an HDF5 file, which is not read: in Python, with h5py: "));
  EXPECT_TRUE(contains(describe("\0\0\0\0\2\0\0\0\3\0\0\0\0\0\0\0\2\0\0\0A\0\0\0"s), "a MATLAB 4 file"));
  EXPECT_TRUE(
      contains(describe(std::string(257, 'x') + "ustar\0"s), "a tar archive, which is not read: unpack"));
  EXPECT_TRUE(contains(describe("%PDF-1.7\n%\xe2\xe3"), "a PDF document"));
  EXPECT_TRUE(contains(describe("\n<!DOCTYPE HTML>\n<head>"), "a web page"));
  EXPECT_TRUE(contains(describe("<?xml version=\"1.0\"?>\n<graphml xmlns=\"x\">"), "a GraphML graph"));
  EXPECT_TRUE(contains(describe("<?xml version=\"1.0\"?>\n<mesh>"), "an XML file"));
  EXPECT_TRUE(contains(describe("\x80\x04\x95\x10"), "a Python pickle"));
  EXPECT_TRUE(contains(describe("version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"));
  EXPECT_TRUE(contains(describe("{\"a\": 1}"), "a JSON file"));
  EXPECT_TRUE(
      contains(describe("\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0A"s), "xz -dc A.mtx.lzma > A.mtx"));
  EXPECT_TRUE(contains(describe("\x5d\0\0\x80\0\x10\0\0\0\0\0\0\0\0A"s), "(.lzma)"));
  EXPECT_TRUE(contains(describe("# row, column\n1,1, 2.5\n"), "(CSV), which is not read: put blanks"));
  EXPECT_TRUE(contains(describe("\xef\xbb\xbf"
                                "1, 2\r\n"),
                       "tr , ' ' < A.csv > A.txt"));
  EXPECT_TRUE(contains(describe("1,2,3,4e0\n"), "delimiter=','"));
  EXPECT_TRUE(contains(describe("a,1,2\n"), "it begins with 'a,1,2'"));
}

TEST(KnownKinds, UnknownBytesAreNotShown) {
  EXPECT_EQ(describe("\x01\x02\x03\xff\0\0"s), "binary data of no kind that is known; read are X, Y");
  EXPECT_EQ(describe("\x1b[31mred"), "binary data of no kind that is known; read are X, Y");
  EXPECT_TRUE(contains(describe("hello\r\nworld\r\n"), "it begins with 'hello'"));
  EXPECT_TRUE(contains(describe("na\xc3\xafve"), "it begins with 'na??ve'"));
}

TEST(KnownKinds, ManyBeginningsThatAreNone) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second)
      for (std::size_t size : {1, 2, 21, 24})
        describe((std::string(1, static_cast<char>(first)) + std::string(30, static_cast<char>(second)))
                     .substr(0, size));
}

}  // namespace
}  // namespace ayatori::io
