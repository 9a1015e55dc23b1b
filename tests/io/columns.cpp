#include "ayatori/io/columns.hpp"

#include "dense.hpp"
#include "error_text.hpp"
#include "mutation.hpp"

namespace ayatori::io {
namespace {

LoadedMatrix load(const std::string& text) {
  return read_columns(comm::Comm::world(), MemoryBytes(text, "A.txt"));
}

Dense dense(const std::string& text) {
  return to_dense(comm::Comm::world(), load(text).block);
}

std::string error_of(const std::string& text) {
  return input_error_of([&] { load(text); });
}

const std::string triplets = "% row column value\n1 1 2\n\n1\t2 -1.5\r\n  2 2 1e1 \n2 2 -1D0\n3 1 .5";
const std::string edges = "# Directed graph\n# FromNodeId\tToNodeId\n0\t3\n0\t1\n2\t1\n";
const std::string vector = "1.5\n-2\n% here is one\n0\n3e-2\n";

TEST(Columns, ReadsTripletsFromOne) {
  const auto loaded = load(triplets);
  EXPECT_EQ(dense(triplets).value, dense_rows({{2, -1.5}, {0, 9}, {0.5, 0}}).value);
  EXPECT_EQ(loaded.facts.format, "columns");
  EXPECT_EQ(loaded.facts.name, "A.txt");
  EXPECT_EQ(loaded.facts.bytes, static_cast<std::int64_t>(triplets.size()));
}

TEST(Columns, ReadsTripletsFromZero) {
  EXPECT_EQ(dense("0 0 4\n1 0 5\n1 2 6\n").value, dense_rows({{4, 0, 0}, {5, 0, 6}}).value);
}

TEST(Columns, TheSizeMayBeALineWithoutWeight) {
  const auto loaded = load("1 1 4\n2 2 5\n3 4 0\n");
  EXPECT_EQ(loaded.block.global_rows, 3);
  EXPECT_EQ(loaded.block.global_columns, 4);
  EXPECT_EQ(comm::Comm::world().allreduce<std::int64_t>(loaded.block.nonzeros(), comm::ReduceOp::sum), 2);
}

TEST(Columns, ReadsWhatNumpySavetxtWrites) {
  EXPECT_EQ(dense("1.000000000000000000e+00 1.000000000000000000e+00 4.000000000000000000e+00\n"
                  "2.000000000000000000e+00 1.0e+00 -5e-1\n")
                .value,
            dense_rows({{4}, {-0.5}}).value);
  EXPECT_EQ(dense("0.0 1.0\n2.000e+00 1\n").rows, 3);
  EXPECT_EQ(error_of("1.0 1.5e+00 4\n"), "A.txt, line 1: '1.5e+00' where a column number belongs");
  EXPECT_EQ(error_of("1.0 1.0 4\n1e16 1 4\n"), "A.txt, line 2: '1e16' where a row number belongs");
}

TEST(Columns, AByteOrderMarkIsSkipped) {
  EXPECT_TRUE(looks_like_columns("\xef\xbb\xbf" + vector));
  EXPECT_EQ(dense("\xef\xbb\xbf" + vector).value, dense(vector).value);
  EXPECT_EQ(error_of("\xef\xbb\xbf"
                     "1 0.5 1\n1 1 1\n"),
            "A.txt, line 1: '0.5' where a column number belongs");
}

TEST(Columns, CountsNumbersBetweenCommas) {
  EXPECT_EQ(numbers_between_commas("% a, b\n\n 1 ,2e3,-.5\n7\n"), 3U);
  EXPECT_EQ(numbers_between_commas("1,2\r\n"), 2U);
  EXPECT_EQ(numbers_between_commas("1,2,"), 2U);
  EXPECT_EQ(numbers_between_commas("1,x,3\n"), 1U);
  EXPECT_EQ(numbers_between_commas("1 2,3\n"), 0U);
  EXPECT_EQ(numbers_between_commas(""), 0U);
}

TEST(Columns, EdgesAreOnesInASquare) {
  EXPECT_EQ(dense(edges).value, dense_rows({{0, 1, 0, 1}, {0, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 0}}).value);
}

TEST(Columns, OneNumberALineIsAVector) {
  const Dense column = dense(vector);
  EXPECT_EQ(column.columns, 1);
  EXPECT_EQ(column.value, (std::vector<double>{1.5, -2, 0, 3e-2}));
}

TEST(Columns, ManyRanksOfManyLines) {
  const int n = 300;
  std::string text;
  std::string numbers;
  for (int i = n; i >= 1; --i) text += fmt::format("{} {} {}\n", i, n + 1 - i, 10 * i);
  for (int i = 0; i < n; ++i) numbers += fmt::format("{}{}\n", i % 7 == 0 ? "# \n" : "", i);
  const Dense matrix = dense(text);
  const Dense column = dense(numbers);
  ASSERT_EQ(matrix.rows, n);
  ASSERT_EQ(column.rows, n);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(matrix(i, n - 1 - i), 10.0 * (i + 1));
    EXPECT_EQ(column(i, 0), i);
  }
}

TEST(Columns, TellsItsFiles) {
  for (const auto& text : {triplets, edges, vector}) EXPECT_TRUE(looks_like_columns(text));
  for (const std::string text : {"", "# only a comment\n", "1 2 3 4\n", "row column value\n1 1 1\n",
                                 "1,2,3\n", "1 2 3;\n", "1 1 2+3i\n"})
    EXPECT_FALSE(looks_like_columns(text)) << text;
}

TEST(Columns, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("1 1 1\n2 2\n"), "A.txt, line 2: 2 words on the line, where the first line has 3");
  EXPECT_EQ(error_of("# \n1 1 1\n2 2 2 2\n"),
            "A.txt, line 3: 4 words on the line, where the first line has 3");
  EXPECT_EQ(error_of("1 1 1\n\n2 two 1\n"), "A.txt, line 3: 'two' where a column number belongs");
  EXPECT_EQ(error_of("1 1 1\n-2 1 1\n"), "A.txt, line 2: '-2' where a row number belongs");
  EXPECT_EQ(error_of("1.5 1 1\n"), "A.txt, line 1: '1.5' where a row number belongs");
  EXPECT_EQ(error_of("1 1 1\n2 2 x\n"), "A.txt, line 2: 'x' where a finite number belongs");
  EXPECT_EQ(error_of("1 1 nan\n2 2 2\n"), "A.txt: no columns of one to three numbers");
  EXPECT_EQ(error_of("1 1 1\n2 2 inf\n"), "A.txt, line 2: 'inf' where a finite number belongs");
  EXPECT_EQ(error_of("1\n1e999\n"), "A.txt, line 2: '1e999' where a finite number belongs");
  EXPECT_TRUE(contains(error_of("1 1 1\n1 99999999999 1\n"), "the greatest column number 99999999999"));
  EXPECT_EQ(error_of("1 1 1\n1 9999999999999999999 1\n"),
            "A.txt, line 2: '9999999999999999999' where a column number belongs");
  EXPECT_TRUE(contains(error_of(""), "no columns"));
}

TEST(Columns, TheFirstFaultOfAllRanksIsNamed) {
  std::string text;
  for (int i = 1; i <= 100; ++i) text += i == 37 || i == 90 ? "1 1 x\n" : "1 1 1\n";
  EXPECT_TRUE(contains(error_of(text), "A.txt, line 37: 'x'"));
}

TEST(Columns, AMatrixMarketFileWithoutItsBannerIsRefused) {
  EXPECT_TRUE(contains(error_of("% lost\n2 3 2\n1 1 1.5\n2 3 4\n"),
                       "A.txt, line 2: this is the size line of a Matrix Market file"));
  EXPECT_EQ(dense("2 3 2\n1 1 1.5\n2 2 4\n3 1 1\n").rows, 3);
}

TEST(Columns, DamagedFiles) {
  expect_parsed_or_refused({triplets, edges, vector}, " \n\t#%-.019e", 2000,
                           [](const ByteSource& source) { read_columns(comm::Comm::world(), source); });
}

}  // namespace
}  // namespace ayatori::io
