#include "ayatori/io/matrix_market.hpp"

#include "error_text.hpp"
#include "matrix_market_sources.hpp"
#include "world.hpp"

namespace ayatori::io {
namespace {

/// The content is refused with the same text however it is packed and cut.
void expect_refused(const std::string& text, const std::string& expected) {
  in_all_ways(text, [&](const ByteSource& source, const MatrixMarketReadOptions& options) {
    EXPECT_EQ(input_error_of([&] { read_matrix_market(world(), source, options); }), "A.mtx, " + expected)
        << text;
  });
}

const std::string general = "%%MatrixMarket matrix coordinate real general\n";
const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";

TEST(MatrixMarketErrors, EmptyFile) {
  EXPECT_EQ(input_error_of([&] { read_matrix_market(world(), MemoryBytes({}, "A.mtx")); }),
            "A.mtx: the file is empty");
}

TEST(MatrixMarketErrors, Banner) {
  const std::string none = "line 1: no Matrix Market banner: a line '%%MatrixMarket matrix ...' was expected";
  expect_refused("\n", none);
  expect_refused("1 1 1\n", none);
  expect_refused("%MatrixMarket matrix coordinate real general\n1 1 0\n", none);
  expect_refused(std::string("\x7f"
                             "ELF\0\x01\xff",
                             7),
                 none);
  expect_refused(std::string(100'000, '\xee'), none);
  expect_refused(
      "%%MatrixMarket\n1 1 0\n",
      "line 1: the banner has 1 words, not the five of '%%MatrixMarket matrix coordinate real general'");
  expect_refused(
      "%%MatrixMarket matrix coordinate real general x\n1 1 0\n",
      "line 1: the banner has 6 words, not the five of '%%MatrixMarket matrix coordinate real general'");
  expect_refused("%%MatrixMarket vector coordinate real general\n",
                 "line 1: unknown object 'vector' in the banner, which may be: matrix");
  expect_refused("%%MatrixMarket matrix dense real general\n",
                 "line 1: unknown format 'dense' in the banner, which may be: coordinate, array");
  expect_refused(
      "%%MatrixMarket matrix coordinate float general\n",
      "line 1: unknown field 'float' in the banner, which may be: real, integer, pattern, complex");
  expect_refused(
      "%%MatrixMarket matrix coordinate real lower\n",
      "line 1: unknown symmetry 'lower' in the banner, which may be: general, symmetric, skew-symmetric, "
      "hermitian");
}

TEST(MatrixMarketErrors, Complex) {
  const std::string banner = "%%MatrixMarket matrix coordinate complex ";
  const std::string four = "words on the line, not the 4 of 'row column real imaginary'";
  expect_refused(banner + "general\n2 3 2\n1 1 1 2\n2 2 1\n", "line 4: 3 " + four);
  expect_refused(banner + "general\n2 3 1\n1 1 1 2 3\n", "line 3: 5 " + four);
  expect_refused(banner + "general\n2 3 1\n1 1 1+2i\n", "line 3: 3 " + four);
  expect_refused(banner + "general\n2 3 1\n1 1 x 2\n", "line 3: 'x' where a value belongs");
  expect_refused(banner + "general\n2 3 1\n1 1 1 2i\n", "line 3: '2i' where a value belongs");
  expect_refused(banner + "general\n2 3 1\n1 1 1 nan\n", "line 3: the value 'nan' is not finite");
  expect_refused(banner + "general\n2 3 1\n1 4 1 2\n", "line 3: column 4 is out of range 1 to 3");
  expect_refused(banner + "general\n2 3 2\n1 1 1 2\n",
                 "line 3: the file ends after 1 of the 2 entries that line 2 promises");
  expect_refused(banner + "skew-symmetric\n2 2 1\n2 2 0 1\n",
                 "line 3: a nonzero on the diagonal (row 2), which is zero in a skew-symmetric matrix");
  expect_refused("%%MatrixMarket matrix array complex general\n2 1\n1 2\n3\n",
                 "line 4: 1 words on the line, not the 2 of 'real imaginary'");
}

TEST(MatrixMarketErrors, Hermitian) {
  const std::string real_diagonal = "which is real in a hermitian matrix";
  expect_refused("%%MatrixMarket matrix coordinate complex hermitian\n3 3 3\n1 1 1 0\n2 1 1 1\n2 2 5 -1\n",
                 "line 5: an imaginary part on the diagonal (row 2), " + real_diagonal);
  expect_refused("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n\n3 4\n% diagonal\n5 6\n",
                 "line 7: an imaginary part on the diagonal (row 2), " + real_diagonal);
  expect_refused("%%MatrixMarket matrix array complex hermitian\n2 2\n1 2\n3 4\n5 6\n",
                 "line 3: an imaginary part on the diagonal (row 1), " + real_diagonal);
  expect_refused("%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n",
                 "line 1: a hermitian matrix is complex: of one that is not, symmetric says the same");
}

TEST(MatrixMarketErrors, ContradictoryBanner) {
  expect_refused("%%MatrixMarket matrix array pattern general\n1 1\n",
                 "line 1: a pattern in array format has no data: pattern needs coordinate");
  expect_refused("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n",
                 "line 1: a skew-symmetric pattern is not defined: its entries would need a sign");
}

TEST(MatrixMarketErrors, SizeLine) {
  expect_refused(general, "line 1: the file ends before the size line");
  expect_refused(general + "% only\n\n% comments\n", "line 4: the file ends before the size line");
  expect_refused(general + "2 2\n", "line 2: the size line has 2 words, not the 3 of 'rows columns entries'");
  expect_refused(general + "\n2 2 0 1\n",
                 "line 3: the size line has 4 words, not the 3 of 'rows columns entries'");
  expect_refused("%%MatrixMarket matrix array real general\n2\n",
                 "line 2: the size line has 1 word, not the 2 of 'rows columns'");
  expect_refused(general + "2 x 3\n", "line 2: 'x' in the size line, where a whole number belongs");
  expect_refused(general + "2 2.5 3\n", "line 2: '2.5' in the size line, where a whole number belongs");
  expect_refused(general + "-2 2 3\n", "line 2: '-2' in the size line is negative");
  expect_refused(general + "2 99999999999999999999 3\n",
                 "line 2: '99999999999999999999' in the size line is too large");
  expect_refused(general + "0 2 0\n", "line 2: the matrix is empty (0 x 2)");
  expect_refused(symmetric + "2 3 1\n1 1 1\n",
                 "line 2: 2 x 3 is not square, as the banner's symmetry requires");
  expect_refused(skew + "3 2 1\n2 1 1\n", "line 2: 3 x 2 is not square, as the banner's symmetry requires");
  expect_refused("%%MatrixMarket matrix array real general\n4611686018427387904 4\n",
                 "line 2: 4611686018427387904 x 4 values are more than can be counted");
}

TEST(MatrixMarketErrors, AbsurdSizes) {
  const auto refusal = [](const std::string& bytes) {
    return input_error_of([&] { read_matrix_market(world(), MemoryBytes(bytes, "A.mtx")); });
  };
  for (const std::string& bytes : packings(general + "5 5 9000000000000000000\n1 1 1\n")) {
    EXPECT_TRUE(contains(refusal(bytes),
                         "A.mtx, line 2: 9000000000000000000 entries are promised, but the file has room"));
  }
  for (const std::string& bytes :
       packings("%%MatrixMarket matrix array real general\n1000000000 1000000000\n1\n")) {
    EXPECT_TRUE(contains(refusal(bytes), "A.mtx, line 2: 1000000000000000000 entries are promised"));
  }
  for (const std::string& bytes : packings(general + "5 9000000000000000000 1\n1 1 1\n")) {
    EXPECT_TRUE(contains(refusal(bytes),
                         "A.mtx, line 2: 5 x 9000000000000000000 is out of all proportion to a file of"));
  }
}

TEST(MatrixMarketErrors, Indices) {
  expect_refused(general + "2 3 2\n1 1 1\n0 1 1\n", "line 4: row 0 is out of range 1 to 2");
  expect_refused(general + "2 3 2\n1 1 1\n1 0 1\n", "line 4: column 0 is out of range 1 to 3");
  expect_refused(general + "2 3 1\n3 1 1\n", "line 3: row 3 is out of range 1 to 2");
  expect_refused(general + "2 3 1\n1 4 1\n", "line 3: column 4 is out of range 1 to 3");
  expect_refused(general + "2 3 1\n-1 1 1\n", "line 3: row -1 is out of range 1 to 2");
  expect_refused(general + "2 3 1\n99999999999999999999 1 1\n",
                 "line 3: row 99999999999999999999 is out of range 1 to 2");
  expect_refused(general + "2 3 1\n1.0 1 1\n", "line 3: '1.0' where a row number belongs");
  expect_refused(general + "2 3 1\n1 a 1\n", "line 3: 'a' where a column number belongs");
  expect_refused(general + "2 3 1\n1 1e0 1\n", "line 3: '1e0' where a column number belongs");
}

TEST(MatrixMarketErrors, Values) {
  expect_refused(general + "2 3 1\n1 1 x\n", "line 3: 'x' where a value belongs");
  expect_refused(general + "2 3 1\n1 1 1.5.2\n", "line 3: '1.5.2' where a value belongs");
  expect_refused(general + "2 3 1\n1 1 1e\n", "line 3: '1e' where a value belongs");
  expect_refused(general + "2 3 1\n1 1 1d+\n", "line 3: '1d+' where a value belongs");
  expect_refused(general + "2 3 1\n1 1 0x10\n", "line 3: '0x10' where a value belongs");
  expect_refused(general + "2 3 1\n1 1 1.23456789012345678x\n",
                 "line 3: '1.23456789012345678x' where a value belongs");
  expect_refused(general + "2 3 1\n1 1 .\n", "line 3: '.' where a value belongs");
  expect_refused(general + "2 3 1\n1 1 -\n", "line 3: '-' where a value belongs");
  expect_refused(general + "2 3 1\n1 1 nan\n", "line 3: the value 'nan' is not finite");
  expect_refused(general + "2 3 1\n1 1 -Inf\n", "line 3: the value '-Inf' is not finite");
  expect_refused(general + "2 3 1\n1 1 infinity\n", "line 3: the value 'infinity' is not finite");
  expect_refused(general + "2 3 1\n1 1 1e999\n", "line 3: the value '1e999' is too large for a double");
  expect_refused(general + "2 3 1\n1 1 -1D999\n", "line 3: the value '-1D999' is too large for a double");
  expect_refused("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n",
                 "line 3: '1.5' where an integer value belongs");
  expect_refused("%%MatrixMarket matrix array real general\n2 1\n1\nx\n",
                 "line 4: 'x' where a value belongs");
  expect_refused("%%MatrixMarket matrix array integer general\n2 1\n1\n1e3\n",
                 "line 4: '1e3' where an integer value belongs");
}

TEST(MatrixMarketErrors, WordsOnALine) {
  expect_refused(general + "2 3 1\n1 1\n", "line 3: 2 words on the line, not the 3 of 'row column value'");
  expect_refused(general + "2 3 1\n1\n1 1 1\n",
                 "line 3: 1 words on the line, not the 3 of 'row column value'");
  expect_refused(general + "2 3 1\n1 1 1 1\n",
                 "line 3: 4 words on the line, not the 3 of 'row column value'");
  expect_refused(general + "2 3 1\n1 1 1 % no\n",
                 "line 3: 5 words on the line, not the 3 of 'row column value'");
  expect_refused("%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1 1\n",
                 "line 3: 3 words on the line, not the 2 of 'row column'");
  expect_refused("%%MatrixMarket matrix array real general\n2 1\n1 2\n",
                 "line 3: 2 words on the line, not the 1 of 'value'");
}

TEST(MatrixMarketErrors, NumberOfEntries) {
  expect_refused(general + "2 3 2\n1 1 1.0000000\n",
                 "line 3: the file ends after 1 of the 2 entries that line 2 promises");
  expect_refused(general + "\n2 3 2\n\n1 1 1.0000000\n\n% end\n",
                 "line 7: the file ends after 1 of the 2 entries that line 3 promises");
  expect_refused(general + "2 3 1\n1 1 1\n1 2 1\n2 2 1\n",
                 "line 4: more entries than the 1 that line 2 promises");
  expect_refused(general + "2 3 0\n\n% none\n1 2 1\n",
                 "line 5: more entries than the 0 that line 2 promises");
  expect_refused("%%MatrixMarket matrix array real general\n3 1\n1\n2.000\n",
                 "line 4: the file ends after 2 of the 3 entries that line 2 promises");
  expect_refused("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n",
                 "line 6: more entries than the 3 that line 2 promises");
}

TEST(MatrixMarketErrors, SymmetryBroken) {
  expect_refused(
      symmetric + "3 3 3\n1 1 1\n2 1 1\n1 3 1\n",
      "line 5: an entry above the diagonal, while earlier ones are below it: of a symmetric matrix, one "
      "triangle is stored");
  expect_refused(
      skew + "3 3 3\n1 2 1\n1 3 1\n2 1 1\n",
      "line 5: an entry below the diagonal, while earlier ones are above it: of a symmetric matrix, one "
      "triangle is stored");
  expect_refused(skew + "3 3 2\n2 1 1\n2 2 1\n",
                 "line 4: a nonzero on the diagonal (row 2), which is zero in a skew-symmetric matrix");
}

TEST(MatrixMarketErrors, TheFirstOfSeveralIsReported) {
  std::string text = general + "9 9 40\n";
  for (int i = 0; i < 20; ++i) text += "1 1 1\n";
  text += "1 1 first\n";
  for (int i = 0; i < 19; ++i) text += "1 1 wrong\n";
  expect_refused(text, "line 23: 'first' where a value belongs");
  expect_refused(general + "9 9 2\n1 1 1\n1 1 1\n1 1 1\n1 1 x\n",
                 "line 5: more entries than the 2 that line 2 promises");
}

TEST(MatrixMarketErrors, UnprintableAndLongWordsAreShortened) {
  expect_refused(general + "2 3 1\n1 1 \x01!\xff\n", "line 3: '?!?' where a value belongs");
  expect_refused(general + "2 3 1\n1 1 " + std::string(50, 'x') + "\n",
                 "line 3: '" + std::string(40, 'x') + "...' where a value belongs");
  expect_refused(general + std::string("2 3 1\n1 1 1\0\n", 13), "line 3: '1?' where a value belongs");
}

TEST(MatrixMarketErrors, EndlessLine) {
  const std::string text = general + "2 3 1\n" + std::string(300'000, '1');
  for (const std::string& bytes : {text, compress_gzip(text)}) {
    const std::string error =
        input_error_of([&] { read_matrix_market(world(), MemoryBytes(bytes, "A.mtx"), {100}); });
    EXPECT_EQ(error, "A.mtx, line 3: the line is longer than 65536 characters");
  }
}

TEST(MatrixMarketErrors, GzipTruncated) {
  std::string text = general + "999 999 2000\n";
  for (int i = 0; i < 2000; ++i) text += fmt::format("{} 1 {}\n", i % 999 + 1, 1.0 / (i + 1));
  const std::string bytes = compress_gzip(text);
  for (const std::size_t kept : {std::size_t{2}, std::size_t{11}, bytes.size() / 2, bytes.size() - 1}) {
    const std::string cut = bytes.substr(0, kept);
    EXPECT_EQ(input_error_of([&] { read_matrix_market(world(), MemoryBytes(cut, "A.mtx"), {500}); }),
              "A.mtx: the gzip'ed data end early: the file is truncated");
  }
}

TEST(MatrixMarketErrors, GzipDamaged) {
  std::string text = general + "999 999 2000\n";
  for (int i = 0; i < 2000; ++i) text += fmt::format("{} 1 {}\n", i % 999 + 1, 1.0 / (i + 1));
  std::string bytes = compress_gzip(text);
  bytes[bytes.size() - 6] ^= 1;  // in the checksum
  EXPECT_EQ(input_error_of([&] { read_matrix_market(world(), MemoryBytes(bytes, "A.mtx"), {500}); }),
            "A.mtx: the gzip'ed data are damaged: incorrect data check");
  const std::string garbage = compress_gzip(general + "1 1 0\n") + "garbage";
  EXPECT_EQ(input_error_of([&] { read_matrix_market(world(), MemoryBytes(garbage, "A.mtx")); }),
            "A.mtx: the gzip'ed data are damaged: incorrect header check");
}

TEST(MatrixMarketErrors, VectorOfAnotherShape) {
  const auto partition = sparse::RowPartition::even(3, world().size());
  const auto refusal = [&](const std::string& text) {
    return input_error_of([&] { read_matrix_market_vector(world(), MemoryBytes(text, "b.mtx"), partition); });
  };
  EXPECT_EQ(refusal("%%MatrixMarket matrix array real general\n4 1\n1\n1\n1\n1\n"),
            "b.mtx, line 2: 4 x 1, where a vector of 3 x 1 is needed");
  EXPECT_EQ(refusal("%%MatrixMarket matrix array real general\n1 3\n1\n1\n1\n"),
            "b.mtx, line 2: 1 x 3, where a vector of 3 x 1 is needed");
  EXPECT_EQ(refusal("%%MatrixMarket matrix array real general\n3 1\n1\n1\nx\n"),
            "b.mtx, line 5: 'x' where a value belongs");
}

}  // namespace
}  // namespace ayatori::io
