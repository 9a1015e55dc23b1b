#include "ayatori/io/matlab.hpp"

#include <zlib.h>

#include "complex_matrix.hpp"
#include "dense.hpp"
#include "error_text.hpp"
#include "matlab_samples.hpp"
#include "mutation.hpp"
#include "temporary_folder.hpp"
#include "world.hpp"

namespace ayatori::io {
namespace {

const Dense expected = dense_rows({{2, 0, -1}, {0, 5, 0}, {0, 7, 0}});

/// As save -v7 stores a variable.
std::string compressed(const std::string& variable) {
  std::string packed(compressBound(variable.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(variable.data()),
           variable.size());
  packed.resize(size);
  return mat_bytes(std::vector<std::uint32_t>{15, static_cast<std::uint32_t>(size)}) + packed;
}

LoadedMatrix read(const std::string& bytes, const std::string& name = "") {
  EXPECT_TRUE(looks_like_mat(bytes));
  return read_mat(world(), MemoryBytes(bytes, "A.mat"), name);
}

std::string error_of(const std::string& bytes, const std::string& name = "") {
  return input_error_of([&] { read(bytes, name); });
}

TEST(Matlab, SparseAndFull) {
  const auto loaded = read(mat_file(mat_sparse("A")));
  EXPECT_EQ(loaded.facts.format, "mat");
  EXPECT_EQ(to_dense(world(), loaded.block).value, expected.value);
  EXPECT_EQ(to_dense(world(), read(mat_file(compressed(mat_sparse("A")))).block).value, expected.value);
  const std::string both = mat_file(mat_column("b") + compressed(mat_sparse("A")));
  EXPECT_EQ(to_dense(world(), read(both).block).value, expected.value);
  EXPECT_EQ(to_dense(world(), read(both, "b").block).value, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(find_mat_vectors(MemoryBytes(both), "").part, "b");
}

TEST(Matlab, Complex) {
  using namespace std::complex_literals;
  const std::vector<std::vector<sparse::Complex>> sparse_rows{{2.0 + 1i, 0, -1}, {0, 5i, 0}, {0, 7, 0}};
  const std::vector<std::vector<sparse::Complex>> full_rows{{1, 1i}, {0, 2.0 + 3i}, {-4, 0}};
  expect_complex(read(mat_file(mat_complex_sparse("A"))), sparse_rows);
  expect_complex(read(mat_file(compressed(mat_complex_sparse("A")))), sparse_rows);
  const std::string several = mat_file(mat_column("b") + mat_complex_full("B") + mat_complex_sparse("A"));
  expect_complex(read(several), sparse_rows);
  expect_complex(read(several, "B"), full_rows);
  EXPECT_TRUE(mat_is_complex(MemoryBytes(several), ""));
  EXPECT_FALSE(mat_is_complex(MemoryBytes(several), "b"));
  EXPECT_EQ(find_mat_vectors(MemoryBytes(several), "B").columns, 2);
}

TEST(Matlab, ComplexWithoutItsImaginaryParts) {
  const std::string head = mat_head(6 | mat_complex, 3, 1, "b");
  const std::string real = mat_element(2, std::string("\1\2\3", 3));
  EXPECT_TRUE(
      contains(error_of(mat_file(mat_element(14, head + real))), "A.mat: the MAT-file has a variable"));
  EXPECT_TRUE(contains(error_of(mat_file(mat_element(14, head + real + mat_element(2, "\1\2")))),
                       "A.mat: the MAT-file has 2 numbers of b (3 x 1)"));
  std::string cut = mat_file(mat_complex_sparse("A"));
  EXPECT_TRUE(
      contains(error_of(cut.substr(0, cut.size() - 8)), "A.mat: the MAT-file ends within a variable"));
}

TEST(Matlab, VariablesOfAStructure) {
  const std::string fields("A\0\0\0b\0\0\0", 8);
  const std::string structure =
      mat_element(14, mat_head(2, 1, 1, "Problem") + mat_bytes(std::vector<std::uint32_t>{5 | 4 << 16, 4}) +
                          mat_element(1, fields) + mat_sparse("") + mat_column(""));
  const std::string bytes = mat_file(compressed(structure));
  EXPECT_EQ(to_dense(world(), read(bytes).block).value, expected.value);
  EXPECT_EQ(to_dense(world(), read(bytes, "Problem.A").block).value, expected.value);
  EXPECT_EQ(to_dense(world(), read(bytes, "b").block).value, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(error_of(bytes, "c"),
            "A.mat: no variable is called 'c': it holds Problem.A (3 x 3, sparse), Problem.b (3 x 1)");
}

TEST(Matlab, ByNameOnACommandLine) {
  const TemporaryFolder folder(world());
  const auto path = folder.file("A.mat", mat_file(mat_sparse("A") + mat_sparse("B") + mat_column("b")));
  EXPECT_EQ(to_dense(world(), load_matrix(world(), path + ":B").block).value, expected.value);
  const auto partition = sparse::RowPartition::even(3, world().size());
  for (const char* name : {"", ":b", ":b:1"})
    EXPECT_EQ(
        world().allgatherv(std::span<const double>(load_vector(world(), path + name, partition))).values,
        (std::vector<double>{1, 2, 3}));
  EXPECT_TRUE(contains(input_error_of([&] { load_matrix(world(), path); }),
                       "holds A (3 x 3, sparse), B (3 x 3, sparse), b (3 x 1): say which, "));
}

TEST(Matlab, DamageIsNamed) {
  const std::string plain = mat_file(mat_sparse("A"));
  EXPECT_TRUE(
      contains(error_of(plain.substr(0, plain.size() - 8)), "A.mat: the MAT-file ends within a variable"));
  const std::string packed = mat_file(compressed(mat_sparse("A")));
  EXPECT_TRUE(
      contains(error_of(packed.substr(0, packed.size() - 8)), "A.mat: the MAT-file ends within a variable"));
  std::string damaged = packed;
  damaged[packed.size() - 30] = static_cast<char>(damaged[packed.size() - 30] ^ 0x55);
  EXPECT_TRUE(contains(error_of(damaged), "A.mat: the "));
  EXPECT_EQ(error_of(mat_file("")), "A.mat: holds no matrix: say which, A.mat:NAME");
  const auto with_rows = [&](std::int32_t row) {
    std::string bytes = plain;
    const auto at = bytes.find(mat_bytes(std::vector<std::int32_t>{0, 1, 2, 0}));
    return bytes.replace(at, 4, mat_bytes(std::vector<std::int32_t>{row}));
  };
  EXPECT_TRUE(
      contains(error_of(with_rows(3)), "A.mat: the MAT-file has an entry of A in row 3, but there are 3"));
  EXPECT_TRUE(contains(error_of(with_rows(-1)), "in row -1"));
  std::string ends = plain;
  ends.replace(ends.find(mat_bytes(std::vector<std::int32_t>{0, 1, 3, 4})) + 12, 4,
               mat_bytes(std::vector<std::int32_t>{2}));
  EXPECT_TRUE(contains(error_of(ends), "says that column 4 of A starts at 2"));
  std::string tall = plain;
  tall.replace(tall.find(mat_bytes(std::vector<std::int32_t>{3, 3})), 4,
               mat_bytes(std::vector<std::int32_t>{1 << 28}));
  EXPECT_TRUE(contains(error_of(tall), "A.mat: 268435456 x 3 of A is out of all proportion to a file of"));
}

TEST(Matlab, MutationsParseOrAreRefused) {
  const std::string alphabet("\0\1\5\6\x0e\x0f\x7f\xff", 8);
  expect_parsed_or_refused({mat_file(mat_sparse("A")), mat_file(compressed(mat_sparse("A"))),
                            mat_file(mat_complex_sparse("A")), mat_file(mat_complex_full("B"))},
                           alphabet, 600, [](const ByteSource& source) { read_mat(world(), source, ""); });
}

}  // namespace
}  // namespace ayatori::io
