#include "ayatori/io/petsc_binary.hpp"

#include <limits>

#include "ayatori/io/compression/codec.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/io/petsc/big_endian.hpp"
#include "complex_matrix.hpp"
#include "dense.hpp"
#include "error_text.hpp"
#include "mutation.hpp"
#include "temporary_folder.hpp"

namespace ayatori::io {
namespace {

/// Numbers one after the other, big-endian.
template <class T>
std::string big_endian(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  for (std::size_t k = 0; k < values.size(); ++k) petsc::store_big_endian(values[k], &bytes[k * sizeof(T)]);
  return bytes;
}

using Ints = std::vector<std::int32_t>;
using Longs = std::vector<std::int64_t>;
using Reals = std::vector<double>;

/// 3 x 4: (0, 1) = 1.5, (0, 3) = -2, (2, 0) = 3; columns of row 0 out of order.
std::string small_matrix() {
  return big_endian(Ints{1211216, 3, 4, 3, 2, 0, 1, 3, 1, 0}) + big_endian(Reals{-2, 1.5, 3});
}

std::string small_matrix_64() {
  return big_endian(Longs{1211216, 3, 4, 3, 2, 0, 1, 3, 1, 0}) + big_endian(Reals{-2, 1.5, 3});
}

std::string dense_matrix() {
  return big_endian(Ints{1211216, 3, 2, -1}) + big_endian(Reals{1, 0, 0, 4, 5, 6});
}

/// The same places with the values 1.5 + i, -2 and 3 i.
std::string complex_matrix() {
  return small_matrix().substr(0, 40) + big_endian(Reals{-2, 0, 1.5, 1, 0, 3});
}

std::string small_vector() {
  return big_endian(Ints{1211214, 5}) + big_endian(Reals{1, -2, 3.5, 0, 1e-300});
}

LoadedMatrix load(const std::string& bytes) {
  return read_petsc_matrix(comm::Comm::world(), MemoryBytes(bytes, "A.petsc"));
}

std::string error_of(const std::string& bytes) {
  return input_error_of([&] { load(bytes); });
}

std::string vector_error_of(const std::string& bytes) {
  const auto world = comm::Comm::world();
  return input_error_of([&] {
    read_petsc_vector(world, MemoryBytes(bytes, "b.petsc"), sparse::RowPartition::even(5, world.size()));
  });
}

TEST(PetscBinary, ReadsMatricesOfBothIndexSizes) {
  const auto world = comm::Comm::world();
  for (const std::string& bytes : {small_matrix(), small_matrix_64()}) {
    const auto loaded = load(bytes);
    EXPECT_EQ(to_dense(world, loaded.block).value,
              dense_rows({{0, 1.5, 0, -2}, {0, 0, 0, 0}, {3, 0, 0, 0}}).value);
    EXPECT_EQ(loaded.block.rows(), split_evenly(3, world.size(), world.rank()).size());
    EXPECT_EQ(loaded.facts.format, "petsc");
    EXPECT_EQ(loaded.facts.name, "A.petsc");
    EXPECT_EQ(loaded.facts.bytes, static_cast<std::int64_t>(bytes.size()));
  }
}

TEST(PetscBinary, SumsDuplicatesAndSortsColumns) {
  const auto loaded =
      load(big_endian(Ints{1211216, 2, 3, 5, 4, 1, 2, 0, 2, 2, 1}) + big_endian(Reals{1, 2, 4, 8, 16}));
  EXPECT_EQ(to_dense(comm::Comm::world(), loaded.block).value, dense_rows({{2, 0, 13}, {0, 16, 0}}).value);
  for (std::int64_t i = 0; i < loaded.block.rows(); ++i) {
    for (std::int64_t k = loaded.block.row_start[i] + 1; k < loaded.block.row_start[i + 1]; ++k) {
      EXPECT_LT(loaded.block.column[k - 1], loaded.block.column[k]);
    }
  }
}

TEST(PetscBinary, ReadsDenseMatricesWithoutTheirZeros) {
  const auto world = comm::Comm::world();
  const auto loaded = load(dense_matrix());
  EXPECT_EQ(to_dense(world, loaded.block).value, dense_rows({{1, 0}, {0, 4}, {5, 6}}).value);
  EXPECT_EQ(world.allreduce(loaded.block.nonzeros(), comm::ReduceOp::sum), 4);
}

TEST(PetscBinary, ReadsEmptyMatrices) {
  EXPECT_EQ(load(big_endian(Ints{1211216, 0, 0, 0})).block.global_rows, 0);
  EXPECT_EQ(load(big_endian(Longs{1211216, 0, std::int64_t{1} << 60, -1})).block.global_rows, 0);
  const auto zero = load(big_endian(Ints{1211216, 2, 2, 0, 0, 0})).block;
  EXPECT_EQ(zero.global_rows, 2);
  EXPECT_EQ(zero.nonzeros(), 0);
}

TEST(PetscBinary, ReadsVectorsOfBothIndexSizes) {
  const auto world = comm::Comm::world();
  const sparse::RowPartition uneven = [&] {
    std::vector<std::int64_t> starts(world.size() + 1, 5);
    starts[0] = 0;
    return sparse::RowPartition(starts);
  }();
  const std::string wide = big_endian(Longs{1211214, 5}) + small_vector().substr(8);
  for (const std::string& bytes : {small_vector(), wide}) {
    const auto values = read_petsc_vector(world, MemoryBytes(bytes), uneven);
    const Array<double> expected{1, -2, 3.5, 0, 1e-300};
    EXPECT_EQ(values, world.rank() == 0 ? expected : Array<double>());
  }
}

TEST(PetscBinary, ReadsAVectorAsAMatrixOfOneColumn) {
  const auto loaded = load(small_vector());
  EXPECT_EQ(loaded.block.global_columns, 1);
  EXPECT_EQ(to_dense(comm::Comm::world(), loaded.block).value,
            dense_rows({{1}, {-2}, {3.5}, {0}, {1e-300}}).value);
}

TEST(PetscBinary, TellsItsFiles) {
  EXPECT_TRUE(looks_like_petsc(small_matrix()));
  EXPECT_TRUE(looks_like_petsc(small_matrix_64()));
  EXPECT_TRUE(looks_like_petsc(small_vector()));
  EXPECT_FALSE(looks_like_petsc(""));
  EXPECT_FALSE(looks_like_petsc(small_matrix().substr(0, 3)));
  EXPECT_FALSE(looks_like_petsc(small_matrix_64().substr(0, 7)));
  EXPECT_FALSE(looks_like_petsc("%%MatrixMarket matrix"));
}

TEST(PetscBinary, MatrixErrorsNameTheByte) {
  const std::string good = small_matrix();
  const auto with = [&](std::size_t word, std::int32_t value) {
    std::string bytes = good;
    bytes.replace(4 * word, 4, big_endian(Ints{value}));
    return error_of(bytes);
  };
  EXPECT_EQ(error_of(""), "A.petsc, byte 0: neither a PETSc matrix nor a PETSc vector begins so");
  EXPECT_TRUE(contains(with(0, 1211217), "byte 0: neither a PETSc matrix"));
  EXPECT_TRUE(contains(error_of(small_vector() + "x"), "byte 48: 1 bytes too many behind the end"));
  EXPECT_TRUE(contains(error_of(good.substr(0, 10)), "byte 10: the file ends before the number of columns"));
  EXPECT_TRUE(contains(error_of(good.substr(0, 63)),
                       "byte 63: the file ends here, but its header promises 64 bytes"));
  EXPECT_TRUE(contains(error_of(good + "x"), "byte 64: 1 bytes too many behind the end"));
  EXPECT_TRUE(contains(with(1, -3), "byte 4: the number of rows is -3"));
  EXPECT_TRUE(contains(with(2, -1), "byte 8: the number of columns is -1"));
  EXPECT_TRUE(contains(with(3, -2), "byte 12: the number of nonzeros is -2"));
  EXPECT_TRUE(
      contains(with(1, 2147483647), "byte 64: the file ends here, but its header promises 8589934640 bytes"));
  EXPECT_TRUE(contains(with(4, -1), "byte 16: row 1 has -1 nonzeros of 3 in all"));
  EXPECT_TRUE(contains(with(5, 4), "byte 20: row 2 has 4 nonzeros of 3 in all"));
  EXPECT_TRUE(contains(with(4, 1), "byte 16: the rows have 2 nonzeros together, but the header says 3"));
  EXPECT_TRUE(contains(with(4, 3), "nonzeros"));
  EXPECT_TRUE(contains(with(8, 4), "byte 32: column 4, but there are 4 (counted from 0)"));
  EXPECT_TRUE(contains(with(9, -1), "byte 36: column -1, but there are 4"));
  EXPECT_TRUE(contains(with(14, 0x7ff00000), "byte 56: the value is infinite or not a number"));
}

TEST(PetscBinary, CountsThatOverflowAreRefused) {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  for (const Longs& header :
       {Longs{1211216, huge, 1, 1}, Longs{1211216, 1, 1, huge}, Longs{1211216, huge / 8, 1, huge / 8},
        Longs{1211216, huge, huge, -1}, Longs{1211216, 1, huge / 8, -1}}) {
    EXPECT_TRUE(
        contains(error_of(big_endian(header)), "byte 32: the file ends here, but its header promises"));
  }
  EXPECT_TRUE(contains(error_of(big_endian(Longs{1211216, huge, 0, -1})), "a dense matrix without columns"));
  EXPECT_TRUE(contains(vector_error_of(big_endian(Longs{1211214, huge})), "but its header promises"));
}

TEST(PetscBinary, ReadsWhatComplexBuildsWrite) {
  using namespace std::complex_literals;
  expect_complex(load(complex_matrix()), {{0, 1.5 + 1i, 0, -2}, {0, 0, 0, 0}, {3i, 0, 0, 0}});
  expect_complex(load(big_endian(Ints{1211216, 2, 3, 4, 3, 1, 1, 2, 1, 0}) +
                      big_endian(Reals{1, 2, 4, 8, 16, 32, 64, 128})),
                 {{0, 17.0 + 34i, 4.0 + 8i}, {64.0 + 128i, 0, 0}});
  expect_complex(load(big_endian(Longs{1211216, 2, 2, -1}) + big_endian(Reals{1, 0, 0, 0, 0, 4, 5, 6})),
                 {{1, 0}, {4i, 5.0 + 6i}});
  const std::string vector = big_endian(Ints{1211214, 3}) + big_endian(Reals{1, 2, 3, 4, 5, 6});
  const auto pairs = sparse::of_pairs(sparse::RowPartition::even(3, world().size()));
  EXPECT_EQ(gathered(read_petsc_vector(world(), MemoryBytes(vector), pairs)), (Reals{1, 2, 3, 4, 5, 6}));
  for (const auto& bytes : {complex_matrix(), vector}) EXPECT_TRUE(petsc_is_complex(MemoryBytes(bytes)));
  for (const auto& bytes : {small_matrix(), small_vector(), dense_matrix()})
    EXPECT_FALSE(petsc_is_complex(MemoryBytes(bytes)));
}

TEST(PetscBinary, TruncatedComplexValues) {
  const std::string good = complex_matrix();
  EXPECT_TRUE(
      contains(error_of(good.substr(0, good.size() - 10)),
               "byte 64: 14 bytes too many behind the end of what the header promises, or 10 too few if "
               "it is complex"));
  std::string infinite = good;
  infinite.replace(infinite.size() - 8, 8, big_endian(Reals{std::numeric_limits<double>::infinity()}));
  EXPECT_TRUE(contains(error_of(infinite), "byte 80: the value is infinite or not a number"));
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(
      contains(error_of(big_endian(Longs{1211216, 1, huge, 1, 1, 0}) + big_endian(Reals{1, 2})),
               "byte 16: the number of columns is 9223372036854775807: too many for a complex matrix"));
}

TEST(PetscBinary, WritesWhatComplexBuildsWrite) {
  const TemporaryFolder folder(world());
  write_petsc_matrix(world(), folder.path("A"), load(complex_matrix()).block, true);
  EXPECT_EQ(content_of(folder.path("A")),
            big_endian(Ints{1211216, 3, 4, 3, 2, 0, 1, 1, 3, 0}) + big_endian(Reals{1.5, 1, -2, 0, 0, 3}));
  const std::string vector = big_endian(Ints{1211214, 3}) + big_endian(Reals{1, 2, 3, 4, 5, 6});
  const auto pairs = sparse::of_pairs(sparse::RowPartition::even(3, world().size()));
  write_petsc_vector(world(), folder.path("b"), read_petsc_vector(world(), MemoryBytes(vector), pairs), pairs,
                     true);
  EXPECT_EQ(content_of(folder.path("b")), vector);
}

/// What is written as complex has to be in the real form.
TEST(PetscBinary, NoRealFormIsRefused) {
  const TemporaryFolder folder(world());
  EXPECT_THROW(write_petsc_matrix(world(), folder.path("A"), load(dense_matrix()).block, true),
               InternalError);
}

TEST(PetscBinary, VectorErrorsNameTheByte) {
  const std::string good = small_vector();
  EXPECT_TRUE(
      contains(vector_error_of(small_matrix()), "b.petsc, byte 0: this is a PETSc matrix, not a vector"));
  EXPECT_TRUE(contains(vector_error_of(good.substr(0, 6)), "byte 6: the file ends before the length"));
  EXPECT_TRUE(contains(vector_error_of(good.substr(0, 40)),
                       "byte 40: the file ends here, but its header promises 48"));
  EXPECT_TRUE(contains(vector_error_of(good + good), "byte 48: 48 bytes too many"));
  EXPECT_TRUE(contains(vector_error_of(big_endian(Ints{1211214, -5})), "byte 4: the length is -5"));
  EXPECT_TRUE(contains(vector_error_of(big_endian(Ints{1211214, 1}) + big_endian(Reals{1})),
                       "the vector has 1 elements, but 5 are needed"));
  std::string nan = good;
  nan.replace(24, 8, big_endian(Reals{std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_TRUE(contains(vector_error_of(nan), "byte 24: the value is infinite or not a number"));
}

TEST(PetscBinary, FilesThatCannotBeOpened) {
  const auto world = comm::Comm::world();
  EXPECT_TRUE(contains(input_error_of([&] { read_petsc_matrix(world, std::string("/no/such.petsc")); }),
                       "/no/such.petsc: cannot be opened"));
}

TEST(PetscBinary, WritesWhatPetscWouldRead) {
  const auto world = comm::Comm::world();
  const TemporaryFolder folder(world);
  write_petsc_matrix(world, folder.path("A"), load(small_matrix()).block);
  EXPECT_EQ(content_of(folder.path("A")),
            big_endian(Ints{1211216, 3, 4, 3, 2, 0, 1, 1, 3, 0}) + big_endian(Reals{1.5, -2, 3}));
  const auto partition = sparse::RowPartition::even(5, world.size());
  write_petsc_vector(world, folder.path("b"),
                     read_petsc_vector(world, MemoryBytes(small_vector()), partition), partition);
  EXPECT_EQ(content_of(folder.path("b")), small_vector());
}

TEST(PetscBinary, WritesWideIndicesOnlyWhereNeeded) {
  const auto world = comm::Comm::world();
  const TemporaryFolder folder(world);
  auto block = load(small_matrix()).block;
  block.global_columns = std::int64_t{1} << 31;
  write_petsc_matrix(world, folder.path("A"), block);
  const auto again = read_petsc_matrix(world, folder.path("A"));
  EXPECT_EQ(content_of(folder.path("A")).size(), 80U + 24U);
  EXPECT_EQ(again.block.global_columns, block.global_columns);
  EXPECT_EQ(again.block.column, block.column);
  EXPECT_EQ(again.block.value, block.value);
}

TEST(PetscBinary, ManyRowsComeBack) {
  const auto world = comm::Comm::world();
  const TemporaryFolder folder(world);
  const auto block = generate(world, "random:n=20000,per_row=8");
  write_petsc_matrix(world, folder.path("A"), block);
  const auto again = read_petsc_matrix(world, folder.path("A")).block;
  EXPECT_EQ(again.row_start, block.row_start);
  EXPECT_EQ(again.column, block.column);
  EXPECT_EQ(again.value, block.value);
}

TEST(PetscBinary, AFailedWriteLeavesNothing) {
  const auto world = comm::Comm::world();
  const TemporaryFolder folder(world);
  EXPECT_THROW(write_petsc_matrix(world, folder.path("no/such/A"), load(small_matrix()).block),
               EnvironmentError);
}

TEST(PetscBinary, MutationsParseOrAreRefused) {
  const auto world = comm::Comm::world();
  const std::string likely("\0\1\2\3\4\x7f\xff", 7);
  const int mutations = world.size() == 1 ? 20000 : 2000;
  expect_parsed_or_refused({small_matrix(), small_matrix_64(), dense_matrix(), complex_matrix()}, likely,
                           mutations, [&](const ByteSource& source) { read_petsc_matrix(world, source); });
  expect_parsed_or_refused({small_vector()}, likely, mutations, [&](const ByteSource& source) {
    read_petsc_vector(world, source, sparse::RowPartition::even(5, world.size()));
  });
}

}  // namespace
}  // namespace ayatori::io
