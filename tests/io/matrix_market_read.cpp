#include "ayatori/io/matrix_market.hpp"

#include "complex_matrix.hpp"
#include "dense.hpp"
#include "error_text.hpp"
#include "matrix_market_sources.hpp"
#include "world.hpp"

namespace ayatori::io {
namespace {

void expect_reads(const std::string& text, const std::vector<std::vector<double>>& rows) {
  const Dense expected = dense_rows(rows);
  in_all_ways(text, [&](const ByteSource& source, const MatrixMarketReadOptions& options) {
    const LoadedMatrix loaded = read_matrix_market(world(), source, options);
    ASSERT_EQ(loaded.block.global_rows, expected.rows) << text;
    ASSERT_EQ(loaded.block.global_columns, expected.columns) << text;
    EXPECT_EQ(to_dense(world(), loaded.block).value, expected.value) << text;
  });
}

void expect_reads_vector(const std::string& text, const std::vector<double>& expected) {
  const auto partition =
      sparse::RowPartition::even(static_cast<std::int64_t>(expected.size()), world().size());
  in_all_ways(text, [&](const ByteSource& source, const MatrixMarketReadOptions& options) {
    const Array<double> local = read_matrix_market_vector(world(), source, partition, options);
    const auto whole = world().allgatherv(std::span<const double>(local));
    EXPECT_EQ(whole.values, expected) << text;
  });
}

void expect_reads_complex(const std::string& text, const std::vector<std::vector<sparse::Complex>>& rows) {
  in_all_ways(text, [&](const ByteSource& source, const MatrixMarketReadOptions& options) {
    SCOPED_TRACE(text);
    expect_complex(read_matrix_market(world(), source, options), rows);
  });
}

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

TEST(MatrixMarketRead, General) {
  expect_reads(general + "3 4 5\n1 1 1.5\n2 4 -2\n3 1 1e3\n3 3 .25\n1 2 7.\n",
               {{1.5, 7, 0, 0}, {0, 0, 0, -2}, {1000, 0, 0.25, 0}});
}

TEST(MatrixMarketRead, LineEndsBlanksAndComments) {
  const std::vector<std::vector<double>> rows{{1, 2}, {0, 3}};
  expect_reads(general + "2 2 3\n1 1 1\n1 2 2\n2 2 3", rows);
  expect_reads("%%MatrixMarket matrix coordinate real general\r\n2 2 3\r\n1 1 1\r\n1 2 2\r\n2 2 3\r\n", rows);
  expect_reads(general +
                   "%\n% a comment\n\n  \t\n  % another\n 2\t2  3 \n\n1 1 1\n% within the data\n1 2 2\n \n"
                   "   2   2\t3   \n\n\n%at the end",
               rows);
  expect_reads(general + "%" + std::string(200'000, 'x') + "\n2 2 3\n1 1 1\n1 2 2\n2 2 3\n", rows);
}

TEST(MatrixMarketRead, AByteOrderMarkIsSkipped) {
  const std::string text = "\xef\xbb\xbf" + general + "2 2 1\n2 1 5\n";
  EXPECT_TRUE(looks_like_matrix_market(text));
  expect_reads(text, {{0, 0}, {5, 0}});
}

TEST(MatrixMarketRead, BannerInAnyCase) {
  expect_reads("%%matrixmarket MATRIX Coordinate REAL General\n1 1 1\n1 1 4\n", {{4}});
  expect_reads("  %%MatrixMarket  matrix\tcoordinate real general  \n1 1 1\n1 1 4\n", {{4}});
}

TEST(MatrixMarketRead, Numbers) {
  expect_reads(
      general +
          "1 9 9\n1 1 +1\n1 2 1D2\n1 3 -1.5d-2\n1 4 1E+2\n+1 +5 0.1\n1 6 1e-400\n1 7 "
          "123456789012345678901234567890\n1 8 1.7976931348623157e308\n001 0009 4.9e-324\n",
      {{1, 100, -0.015, 100, 0.1, 0, 123456789012345678901234567890.0, 1.7976931348623157e308, 4.9e-324}});
}

TEST(MatrixMarketRead, IntegerAndPattern) {
  expect_reads(
      "%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 1 -7\n1 2 +12\n2 2 "
      "9007199254740993000000\n",
      {{-7, 12}, {0, 9007199254740993000000.0}});
  expect_reads("%%MatrixMarket matrix coordinate pattern general\n2 3 3\n1 3\n2 1\n2 2\n",
               {{0, 0, 1}, {1, 1, 0}});
  expect_reads("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", {{1, 1}, {1, 0}});
}

TEST(MatrixMarketRead, Symmetric) {
  const std::string banner = "%%MatrixMarket matrix coordinate real symmetric\n";
  const std::vector<std::vector<double>> rows{{4, -1, 2}, {-1, 0, 0}, {2, 0, 6}};
  expect_reads(banner + "3 3 4\n1 1 4\n2 1 -1\n3 1 2\n3 3 6\n", rows);
  expect_reads(banner + "3 3 4\n1 1 4\n1 2 -1\n1 3 2\n3 3 6\n", rows);
  expect_reads("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n2 1 5\n3 1 -2\n3 3 0\n",
               {{0, -5, 2}, {5, 0, 0}, {-2, 0, 0}});
}

TEST(MatrixMarketRead, DeclaredSymmetryIsReported) {
  const auto declared = [](const std::string& symmetry) {
    const std::string text = "%%MatrixMarket matrix coordinate real " + symmetry + "\n2 2 1\n2 1 5\n";
    return read_matrix_market(world(), MemoryBytes(text, "A.mtx")).facts;
  };
  EXPECT_TRUE(declared("symmetric").declared_symmetric);
  EXPECT_FALSE(declared("skew-symmetric").declared_symmetric);
  EXPECT_FALSE(declared("general").declared_symmetric);
  EXPECT_FALSE(declared("general").is_complex);
  EXPECT_EQ(declared("general").name, "A.mtx");
  EXPECT_EQ(declared("general").format, "matrix-market");
  EXPECT_GT(declared("general").bytes, 50);
}

TEST(MatrixMarketRead, OfComplexMatricesHermitianOnesAreDeclaredSymmetric) {
  for (const std::string symmetry : {"general", "symmetric", "skew-symmetric", "hermitian"}) {
    const std::string text = "%%MatrixMarket matrix coordinate complex " + symmetry + "\n2 2 1\n2 1 5 6\n";
    const auto facts = read_matrix_market(world(), MemoryBytes(text)).facts;
    EXPECT_EQ(facts.declared_symmetric, symmetry == "hermitian");
    EXPECT_TRUE(facts.is_complex);
  }
}

TEST(MatrixMarketRead, DuplicatesAreSummed) {
  expect_reads(general + "2 2 4\n1 1 1\n2 2 3\n1 1 0.5\n1 1 2\n", {{3.5, 0}, {0, 3}});
  expect_reads("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 1 1\n2 1 0.5\n1 1 2\n",
               {{2, 1.5}, {1.5, 0}});
}

TEST(MatrixMarketRead, NoEntries) {
  expect_reads(general + "2 3 0\n", {{0, 0, 0}, {0, 0, 0}});
  expect_reads(general + "2 3 0", {{0, 0, 0}, {0, 0, 0}});
}

TEST(MatrixMarketRead, StoredZerosOfCoordinateStay) {
  const std::string text = general + "2 2 2\n1 1 0\n2 1 3\n";
  const auto block = read_matrix_market(world(), MemoryBytes(text)).block;
  EXPECT_EQ(world().allreduce(block.nonzeros(), comm::ReduceOp::sum), 2);
}

TEST(MatrixMarketRead, Array) {
  expect_reads("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n% comment\n\n5\n6\n",
               {{1, 3, 5}, {2, 4, 6}});
  expect_reads("%%MatrixMarket matrix array integer general\n3 1\n1\n-2\n0\n", {{1}, {-2}, {0}});
  expect_reads("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
               {{1, 2, 3}, {2, 4, 5}, {3, 5, 6}});
  expect_reads("%%MatrixMarket matrix array real skew-symmetric\n4 4\n1\n2\n3\n4\n5\n6\n",
               {{0, -1, -2, -3}, {1, 0, -4, -5}, {2, 4, 0, -6}, {3, 5, 6, 0}});
  expect_reads("%%MatrixMarket matrix array real skew-symmetric\n1 1\n", {{0}});
}

TEST(MatrixMarketRead, Complex) {
  using namespace std::complex_literals;
  const std::string banner = "%%MatrixMarket matrix coordinate complex ";
  expect_reads_complex(banner + "general\n2 3 3\n1 1 1.5 -2\n2 3 0 1D3\n1\t2 -4  0 \n",
                       {{1.5 - 2i, -4, 0}, {0, 0, 1e3i}});
  expect_reads_complex(banner + "symmetric\n2 2 2\n1 1 1 2\n2 1 3 4\n",
                       {{1.0 + 2i, 3.0 + 4i}, {3.0 + 4i, 0}});
  expect_reads_complex(banner + "skew-symmetric\n2 2 2\n2 1 3 4\n2 2 0 0\n", {{0, -3.0 - 4i}, {3.0 + 4i, 0}});
  expect_reads_complex(banner + "hermitian\n2 2 2\n1 1 1 0\n2 1 3 4\n", {{1, 3.0 - 4i}, {3.0 + 4i, 0}});
  expect_reads_complex(banner + "Hermitian\n2 2 2\n1 1 1 -0\n1 2 3 4\n", {{1, 3.0 + 4i}, {3.0 - 4i, 0}});
}

TEST(MatrixMarketRead, ComplexArray) {
  using namespace std::complex_literals;
  const std::string banner = "%%MatrixMarket matrix array complex ";
  expect_reads_complex(banner + "general\n2 2\n1 2\n0 0\n% comment\n3 0\n0 -4\n", {{1.0 + 2i, 3}, {0, -4i}});
  expect_reads_complex(banner + "symmetric\n2 2\n1 2\n3 4\n5 6\n",
                       {{1.0 + 2i, 3.0 + 4i}, {3.0 + 4i, 5.0 + 6i}});
  expect_reads_complex(banner + "hermitian\n2 2\n1 0\n3 4\n5 0\n", {{1, 3.0 - 4i}, {3.0 + 4i, 5}});
  expect_reads_complex(banner + "skew-symmetric\n2 2\n3 4\n", {{0, -3.0 - 4i}, {3.0 + 4i, 0}});
}

/// Rounding must not make the four numbers of a block differ.
TEST(MatrixMarketRead, ComplexDuplicatesAreSummed) {
  const sparse::Complex sum(0.1 + 0.2 + 0.3, 0.1 + 0.2 + 0.3);
  expect_reads_complex(
      "%%MatrixMarket matrix coordinate complex general\n1 1 3\n1 1 0.3 0.1\n1 1 0.1 "
      "0.2\n1 1 0.2 0.3\n",
      {{sum}});
}

TEST(MatrixMarketRead, RowsComeEvenlySpread) {
  const std::string text = general + "10 10 1\n1 1 1\n";
  const auto block = read_matrix_market(world(), MemoryBytes(text)).block;
  EXPECT_EQ(partition_of(world(), block), sparse::RowPartition::even(10, world().size()));
}

/// A matrix large enough that all ranks and threads get pieces of the default size rule.
TEST(MatrixMarketRead, ManyLines) {
  constexpr std::int64_t n = 40'000;
  std::string text = general + fmt::format("{} {} {}\n", n, n, 2 * n);
  for (std::int64_t i = 0; i < n; ++i) {
    text +=
        fmt::format("{} {} {}\n{} {} {}\n", i + 1, i + 1, 2 * i, i + 1, n - i, 0.1 * static_cast<double>(i));
  }
  for (const std::string& bytes : {text, compress_gzip(text)}) {
    for (const std::int64_t piece : {10'000, 4'000'000}) {
      const auto block = read_matrix_market(world(), MemoryBytes(bytes), {piece}).block;
      for (std::int64_t i = block.first_row; i < block.first_row + block.rows(); ++i) {
        const std::int64_t k = block.row_start[i - block.first_row];
        ASSERT_EQ(block.row_start[i - block.first_row + 1] - k, 2);
        const std::int64_t diagonal = i < n - 1 - i ? k : k + 1;
        ASSERT_EQ(block.column[diagonal], i);
        ASSERT_EQ(block.value[diagonal], static_cast<double>(2 * i));
        ASSERT_EQ(block.value[2 * k + 1 - diagonal], 0.1 * static_cast<double>(i));
      }
    }
  }
}

TEST(MatrixMarketRead, Vectors) {
  expect_reads_vector("%%MatrixMarket matrix array real general\n5 1\n1\n2\n0\n4e-1\n-5\n",
                      {1, 2, 0, 0.4, -5});
  expect_reads_vector("%%MatrixMarket matrix array integer general\n2 1\n3\n4\n", {3, 4});
  expect_reads_vector(general + "5 1 3\n4 1 2\n1 1 -1\n4 1 0.5\n", {-1, 0, 0, 2.5, 0});
  expect_reads_vector("%%MatrixMarket matrix coordinate pattern general\n3 1 1\n2 1\n", {0, 1, 0});
}

TEST(MatrixMarketRead, ComplexVectorsArePairs) {
  const auto partition = sparse::of_pairs(sparse::RowPartition::even(3, world().size()));
  for (const std::string text :
       {"%%MatrixMarket matrix array complex general\n3 1\n1 2\n0 0\n0 -3\n",
        "%%MatrixMarket matrix coordinate complex general\n3 1 2\n3 1 0 -3\n1 1 1 2\n"}) {
    in_all_ways(text, [&](const ByteSource& source, const MatrixMarketReadOptions& options) {
      EXPECT_TRUE(matrix_market_is_complex(source));
      EXPECT_EQ(gathered(read_matrix_market_vector(world(), source, partition, options)),
                (std::vector<double>{1, 2, 0, 0, 0, -3}));
    });
  }
}

TEST(MatrixMarketRead, VectorByAGivenPartition) {
  const std::string text = "%%MatrixMarket matrix array real general\n6 1\n1\n2\n3\n4\n5\n6\n";
  std::vector<std::int64_t> starts(world().size() + 1, 6);  // everything on the first rank
  starts[0] = 0;
  const auto local = read_matrix_market_vector(world(), MemoryBytes(text), sparse::RowPartition(starts), {3});
  EXPECT_EQ(local.size(), world().rank() == 0 ? 6U : 0U);
  if (world().rank() == 0) {
    EXPECT_EQ(local[4], 5);
  }
}

TEST(MatrixMarketRead, GzipPaddedWithZeros) {
  std::string bytes = compress_gzip(general + "1 1 1\n1 1 4\n") + std::string(1000, '\0');
  EXPECT_EQ(to_dense(world(), read_matrix_market(world(), MemoryBytes(bytes)).block)(0, 0), 4);
}

TEST(MatrixMarketRead, Recognised) {
  EXPECT_TRUE(looks_like_matrix_market("%%MatrixMarket matrix"));
  EXPECT_TRUE(looks_like_matrix_market(" %%MATRIXMARKET"));
  EXPECT_FALSE(looks_like_matrix_market("%MatrixMarket"));
  EXPECT_FALSE(looks_like_matrix_market(""));
  EXPECT_FALSE(looks_like_matrix_market("%%Matrix"));
}

}  // namespace
}  // namespace ayatori::io
