#include "ayatori/io/numpy.hpp"

#include "ayatori/io/numpy/npy.hpp"
#include "ayatori/io/numpy/zip.hpp"
#include "complex_matrix.hpp"
#include "dense.hpp"
#include "error_text.hpp"
#include "mutation.hpp"
#include "temporary_folder.hpp"
#include "world.hpp"

namespace ayatori::io {
namespace {

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

const std::string square = numpy::array_header("<f8", "2, 2") + bytes_of(std::vector<double>{1.5, 0, -2, 4});

Dense read(const std::string& bytes) {
  const auto loaded = read_npy(world(), MemoryBytes(bytes, "A.npy"));
  EXPECT_EQ(loaded.facts.format, "npy");
  return to_dense(world(), loaded.block);
}

std::string error_of(const std::string& bytes) {
  return input_error_of([&] { read_npy(world(), MemoryBytes(bytes, "A.npy")); });
}

/// The same with another word in its header.
std::string with(std::string_view old, std::string_view word) {
  std::string bytes = square;
  return bytes.replace(bytes.find(old), old.size(), word);
}

TEST(Npy, RowsAndColumnsOfAnyType) {
  EXPECT_EQ(read(square).value, dense_rows({{1.5, 0}, {-2, 4}}).value);
  EXPECT_EQ(read(with("False", "True ")).value, dense_rows({{1.5, -2}, {0, 4}}).value);
  const auto whole = numpy::array_header(">i2", "2, 3") + std::string("\0\1\0\2\xff\xff\0\0\1\0\0\5", 12);
  EXPECT_EQ(read(whole).value, dense_rows({{1, 2, -1}, {0, 256, 5}}).value);
  const auto column = numpy::array_header("|u1", "3,") + std::string("\1\0\xff", 3);
  EXPECT_EQ(read(column).value, dense_rows({{1}, {0}, {255}}).value);
  EXPECT_EQ(npy_columns(MemoryBytes(whole)), 3);
  EXPECT_EQ(npy_columns(MemoryBytes(column)), 1);
}

TEST(Npy, ComplexOfBothSizesAndOrders) {
  using namespace std::complex_literals;
  const std::vector<std::vector<sparse::Complex>> expected{{1.5 - 2i, 0, 4i}, {0, -1, 0.5}};
  const std::vector<double> numbers{1.5, -2, 0, 0, 0, 4, 0, 0, -1, 0, 0.5, 0};
  const auto read_complex = [](const std::string& bytes) {
    EXPECT_TRUE(npy_is_complex(MemoryBytes(bytes)));
    return read_npy(world(), MemoryBytes(bytes, "A.npy"));
  };
  const std::string wide = numpy::array_header("<c16", "2, 3") + bytes_of(numbers);
  expect_complex(read_complex(wide), expected);
  EXPECT_EQ(npy_columns(MemoryBytes(wide)), 3);
  expect_complex(read_complex(numpy::array_header("<c8", "2, 3") +
                              bytes_of(std::vector<float>(numbers.begin(), numbers.end()))),
                 expected);
  std::string swapped = bytes_of(numbers);
  for (std::size_t k = 0; k < swapped.size(); k += 8) std::reverse(&swapped[k], &swapped[k] + 8);
  expect_complex(read_complex(numpy::array_header(">c16", "2, 3") + swapped), expected);
  std::string by_columns = wide;
  by_columns.replace(by_columns.find("False"), 5, "True ");
  expect_complex(read_complex(by_columns), {{1.5 - 2i, 4i, -1}, {0, 0, 0.5}});
  EXPECT_FALSE(npy_is_complex(MemoryBytes(square)));

  EXPECT_TRUE(contains(error_of(wide.substr(0, wide.size() - 8)),
                       "promises 6 numbers of 16 bytes, but 88 bytes follow"));
  auto infinite = numbers;
  infinite[3] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(contains(error_of(numpy::array_header("<c16", "2, 3") + bytes_of(infinite)),
                       "number 2 of its numbers is infinite or not a number"));
}

TEST(Npy, WhatIsWrongIsNamed) {
  EXPECT_TRUE(contains(error_of(with("<f8", "|O8")), "A.npy: the array is of Python objects"));
  EXPECT_TRUE(contains(error_of(with("<f8", "<f2")), "of type '<f2'"));
  EXPECT_TRUE(contains(error_of(with("<f8", "<c4")), "of type '<c4': convert it, A.astype(complex)"));
  EXPECT_TRUE(contains(error_of(with("<f8", "<S8")), "the array is of text"));
  EXPECT_TRUE(
      contains(error_of(with("2, 2", "2, 9")), "promises 18 numbers of 8 bytes, but 32 bytes follow"));
  EXPECT_TRUE(contains(error_of(with("2, 2", "2,-2")), "the array's shape cannot be read"));
  EXPECT_TRUE(contains(error_of(with("'shape'", "'shope'")), "has no 'shape'"));
  EXPECT_TRUE(contains(error_of(square.substr(0, 20)), "ends within the header"));
  EXPECT_TRUE(
      contains(error_of(numpy::array_header("<f8", "0, 2")), "0 numbers: a vector or a matrix is needed"));
  const auto nan = numpy::array_header("<f8", "2,") + bytes_of(std::vector<double>{1, 0.0 / 0.0});
  EXPECT_TRUE(contains(error_of(nan), "number 2 of its numbers is infinite or not a number"));
}

TEST(Npy, VectorsAreReadBack) {
  const TemporaryFolder folder(world());
  const auto partition = sparse::RowPartition::even(7, world().size());
  const Range mine = partition.range(world().rank());
  Array<double> x;
  for (std::int64_t i = mine.begin; i < mine.end; ++i) x.push_back(0.1 * static_cast<double>(i) - 0.2);
  save_vector(world(), folder.path("x.npy"), x, partition);
  EXPECT_EQ(load_vector(world(), folder.path("x.npy"), partition), x);
  EXPECT_TRUE(contains(input_error_of([&] {
                         load_vector(world(), folder.path("x.npy"),
                                     sparse::RowPartition::even(5, world().size()));
                       }),
                       "7 x 1, where a vector of 5 x 1 is needed"));
}

TEST(Npy, OneColumnOfSeveral) {
  const TemporaryFolder folder(world());
  const auto path = folder.file(
      "B.npy", numpy::array_header("<f8", "3, 2") + bytes_of(std::vector<double>{1, 2, 3, 4, 5, 6}));
  const auto partition = sparse::RowPartition::even(3, world().size());
  EXPECT_EQ(count_vectors(world(), path), 2);
  EXPECT_EQ(count_vectors(world(), path + ":2"), 1);
  EXPECT_EQ(world().allgatherv(std::span<const double>(load_vector(world(), path + ":2", partition))).values,
            (std::vector<double>{2, 4, 6}));
  EXPECT_TRUE(contains(input_error_of([&] { load_vector(world(), path, partition); }),
                       "2 columns, where one is needed: say which"));
  EXPECT_TRUE(
      contains(input_error_of([&] { load_matrix(world(), path + ":2"); }), "is a vector, not a matrix"));
  EXPECT_TRUE(contains(input_error_of([&] { load_matrix(world(), path + ":x"); }),
                       "a NumPy array file holds one thing"));
}

/// An archive, as it is written here, of a matrix with an empty row.
std::string archive() {
  const TemporaryFolder folder(world());
  const auto coo = folder.file(
      "A.mtx", "%%MatrixMarket matrix coordinate real general\n4 3 4\n1 1 2\n1 3 -1\n2 2 5\n4 1 7\n");
  save_matrix(world(), folder.path("A.npz"), load_matrix(world(), coo).block);
  world().barrier();
  return content_of(folder.path("A.npz"));
}

TEST(Npz, MatricesAreReadBack) {
  const std::string bytes = archive();
  const auto loaded = read_npz(world(), MemoryBytes(bytes));
  EXPECT_EQ(loaded.facts.format, "npz");
  EXPECT_EQ(to_dense(world(), loaded.block).value,
            dense_rows({{2, 0, -1}, {0, 5, 0}, {0, 0, 0}, {7, 0, 0}}).value);
}

TEST(Npz, ComplexMatricesAreReadBack) {
  using namespace std::complex_literals;
  const TemporaryFolder folder(world());
  const auto coo = folder.file(
      "A.mtx",
      "%%MatrixMarket matrix coordinate complex general\n4 3 4\n1 1 2 1\n1 3 -1 0\n2 2 0 5\n4 1 7 8\n");
  const auto stored = load_matrix(world(), coo);
  save_matrix(world(), folder.path("A.npz"), stored.block, true);
  world().barrier();
  const std::string bytes = content_of(folder.path("A.npz"));
  EXPECT_TRUE(npz_is_complex(MemoryBytes(bytes)));
  EXPECT_FALSE(npz_is_complex(MemoryBytes(archive())));
  const auto loaded = read_npz(world(), MemoryBytes(bytes));
  expect_complex(loaded, {{2.0 + 1i, 0, -1}, {0, 5i, 0}, {0, 0, 0}, {7.0 + 8i, 0, 0}});
  EXPECT_EQ(loaded.block.column, stored.block.column);
  EXPECT_NE(bytes.find("'descr': '<c16', 'fortran_order': False, 'shape': (4,)"), std::string::npos);
}

TEST(Npz, DamageIsNamed) {
  const std::string bytes = archive();
  const auto error = [](const std::string& content) {
    return input_error_of([&] { read_npz(world(), MemoryBytes(content, "A.npz")); });
  };
  for (std::size_t size : {bytes.size() - 1, bytes.size() - 30, bytes.size() / 2, std::size_t{4}})
    EXPECT_TRUE(contains(error(bytes.substr(0, size)), "A.npz: the zip archive ")) << size;
  std::string other = bytes;
  other.replace(other.rfind("shape.npy"), 5, "shope");
  EXPECT_TRUE(contains(error(other), "holds no sparse matrix as scipy.sparse.save_npz writes it"));
  other = bytes;
  other.replace(other.find("csr"), 3, "csx");
  EXPECT_TRUE(
      contains(error(other), "A.npz: the zip archive is damaged: the checksum of 'format.npy' is wrong"));
}

TEST(Npz, MutationsParseOrAreRefused) {
  const std::string alphabet("\0\1\x7f\xff PK", 7);
  expect_parsed_or_refused({archive()}, alphabet, 600,
                           [](const ByteSource& source) { read_npz(world(), source); });
  const auto numbers = numpy::array_header("<c16", "2,") + bytes_of(std::vector<double>{1, 2, 3, 4});
  expect_parsed_or_refused({square, numbers}, alphabet, 600,
                           [](const ByteSource& source) { read_npy(world(), source); });
}

}  // namespace
}  // namespace ayatori::io
