#include "ayatori/io/matrix_source.hpp"

#include "ayatori/base/random.hpp"
#include "ayatori/io/compression/codec.hpp"
#include "ayatori/io/format.hpp"
#include "ayatori/io/numpy/npy.hpp"
#include "complex_matrix.hpp"
#include "dense.hpp"
#include "error_text.hpp"
#include "harwell_boeing_samples.hpp"
#include "temporary_folder.hpp"
#include "world.hpp"

namespace ayatori::io {
namespace {

const std::string text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 -1\n";

std::string refusal(const std::string& source) {
  return input_error_of([&] { load_matrix(world(), source); });
}

TEST(MatrixSource, FormatByContentNotByName) {
  const TemporaryFolder folder(world());
  for (const std::string& path :
       {folder.file("A.mtx", text), folder.file("A.gz", text), folder.file("A.rsa", compress_gzip(text))}) {
    const LoadedMatrix loaded = load_matrix(world(), path);
    EXPECT_EQ(to_dense(world(), loaded.block).value, (std::vector<double>{4, -1, -1, 0}));
    EXPECT_EQ(loaded.facts.name, path);
    EXPECT_EQ(loaded.facts.format, "matrix-market");
    EXPECT_TRUE(loaded.facts.declared_symmetric);
    EXPECT_EQ(loaded.facts.bytes, static_cast<std::int64_t>(std::filesystem::file_size(path)));
  }
}

TEST(MatrixSource, OtherFormats) {
  const TemporaryFolder folder(world());
  const LoadedMatrix stored = load_matrix(world(), folder.file("A.mtx", symmetric_matrix()));
  EXPECT_EQ(stored.facts.format, "harwell-boeing");
  save_matrix(world(), folder.path("A.petsc"), stored.block);
  const LoadedMatrix again = load_matrix(world(), folder.path("A.petsc"));
  EXPECT_EQ(again.facts.format, "petsc");
  EXPECT_EQ(to_dense(world(), again.block).value, to_dense(world(), stored.block).value);

  const auto partition = sparse::RowPartition::even(3, world().size());
  const Array<double> vector(static_cast<std::size_t>(partition.range(world().rank()).size()), 2.5);
  save_vector(world(), folder.path("b.petsc"), vector, partition);
  EXPECT_EQ(load_vector(world(), folder.path("b.petsc"), partition), vector);
  EXPECT_TRUE(contains(input_error_of([&] { load_vector(world(), folder.path("A.mtx"), partition); }),
                       "a Harwell-Boeing file holds no vector"));
}

TEST(MatrixSource, Generators) {
  const LoadedMatrix loaded = load_matrix(world(), "poisson2d-5:n=3");
  EXPECT_EQ(loaded.block.global_rows, 9);
  EXPECT_EQ(loaded.facts.name, "poisson2d-5:n=3");
  EXPECT_EQ(loaded.facts.format, "generator");
  EXPECT_TRUE(loaded.facts.declared_symmetric);
  EXPECT_EQ(loaded.facts.bytes, 0);
}

TEST(MatrixSource, NeitherFileNorGenerator) {
  const std::string error = refusal("no-such-thing");
  EXPECT_TRUE(
      contains(error, "no-such-thing: there is no such file, and no generator of this name: choose one of "));
  EXPECT_TRUE(contains(error, "poisson3d-7"));
  EXPECT_EQ(refusal("no-such-thing.mtx"), "no-such-thing.mtx: there is no such file");
}

TEST(MatrixSource, WhatCannotBeRead) {
  const TemporaryFolder folder(world());
  EXPECT_EQ(refusal(folder.path("")), folder.path("") + ": is a directory, not a file");
  EXPECT_EQ(refusal(folder.file("empty", "")), folder.path("empty") + ": the file is empty");
  EXPECT_TRUE(
      contains(refusal(folder.file("random", std::string("\x01\x02\x03\xff\0\0", 6))),
               folder.path("random") + ": binary data of no kind that is known; read are Matrix Market, "));
  EXPECT_TRUE(contains(refusal(folder.file("text", "hello\nworld\n")), "it begins with 'hello'"));
  EXPECT_EQ(refusal(folder.file("cut.gz", compress_gzip(text).substr(0, 20))),
            folder.path("cut.gz") + ": the gzip'ed data end early: the file is truncated");
}

TEST(MatrixSource, ErrorsNameFileAndLine) {
  const TemporaryFolder folder(world());
  const std::string path = folder.file("A.mtx", text + "\n9 9 9\n");
  EXPECT_EQ(refusal(path), path + ", line 6: row 9 is out of range 1 to 2");
}

TEST(MatrixSource, Vectors) {
  const TemporaryFolder folder(world());
  const auto partition = sparse::RowPartition::even(2, world().size());
  const std::string path = folder.file("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n3\n4\n");
  const auto whole = world().allgatherv(std::span<const double>(load_vector(world(), path, partition)));
  EXPECT_EQ(whole.values, (std::vector<double>{3, 4}));
  EXPECT_EQ(
      input_error_of([&] { load_vector(world(), path, sparse::RowPartition::even(5, world().size())); }),
      path + ", line 2: 2 x 1, where a vector of 5 x 1 is needed");
  EXPECT_EQ(input_error_of([&] { load_vector(world(), folder.path("none"), partition); }),
            folder.path("none") + ": cannot be opened: No such file or directory");
}

/// Random numbers of all sizes, some of them zero, with those of a rank in pairs.
Array<double> random_pairs(const sparse::RowPartition& pairs) {
  const Range mine = pairs.range(world().rank());
  Array<double> values;
  for (std::int64_t i = mine.begin; i < mine.end; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const double number = std::ldexp(random_uniform(5, index) - 0.5, static_cast<int>(index % 200) - 100);
    values.push_back(i % 7 == 0 ? 0 : number);
  }
  return values;
}

/// A complex matrix of 53 rows and 40 columns with about five entries a row, in the real form.
sparse::RowBlock random_complex() {
  constexpr std::int64_t rows = 53;
  constexpr std::int64_t columns = 40;
  constexpr std::int64_t per_row = 5;
  const auto numbers = random_pairs(sparse::RowPartition::on_first(2 * rows * per_row, world().size()));
  Array<sparse::Entry> entries;
  for (std::int64_t k = 0; world().rank() == 0 && k < rows * per_row; ++k) {
    const auto column = static_cast<std::int64_t>(random_bits(6, static_cast<std::uint64_t>(k)) % columns);
    for (std::int64_t part = 0; part < 2; ++part)
      entries.push_back({k / per_row, 2 * column + part, numbers[2 * k + part]});
  }
  return assemble_evenly(world(), rows, columns, true, {std::move(entries)});
}

TEST(MatrixSource, ComplexMatricesComeBackToTheBit) {
  const TemporaryFolder folder(world());
  const auto block = random_complex();
  for (const char* name : {"A.mtx", "A.mtx.gz", "A.npz", "A.petsc"}) {
    save_matrix(world(), folder.path(name), block, true);
    const auto again = load_matrix(world(), folder.path(name));
    EXPECT_TRUE(again.facts.is_complex) << name;
    EXPECT_EQ(again.block.global_rows, 106) << name;
    EXPECT_EQ(again.block.global_columns, 80) << name;
    EXPECT_EQ(again.block.first_row, block.first_row) << name;
    EXPECT_EQ(again.block.row_start, block.row_start) << name;
    EXPECT_EQ(again.block.column, block.column) << name;
    EXPECT_EQ(again.block.value, block.value) << name;
  }
}

TEST(MatrixSource, ComplexVectorsComeBackToTheBit) {
  const TemporaryFolder folder(world());
  for (const std::int64_t n : {1, 3, 1000}) {
    const auto pairs = sparse::of_pairs(sparse::RowPartition::even(n, world().size()));
    const auto values = random_pairs(pairs);
    for (const char* name : {"x.mtx", "x.mtx.gz", "x.npy", "x.petsc"}) {
      save_vector(world(), folder.path(name), values, pairs, true);
      EXPECT_EQ(load_vector(world(), folder.path(name), pairs, true), values) << name;
    }
  }
}

/// Rank 0 decompresses what is not read in order, and spreads it.
TEST(MatrixSource, ComplexMatricesAreSpreadInPairs) {
  const TemporaryFolder folder(world());
  const auto block = random_complex();
  save_matrix(world(), folder.path("A.petsc"), block, true);
  world().barrier();
  const auto packed = folder.file("A.gz", compress_gzip(content_of(folder.path("A.petsc"))));
  const auto again = load_matrix(world(), packed);
  EXPECT_TRUE(again.facts.is_complex);
  EXPECT_EQ(partition_of(world(), again.block), partition_of(world(), block));
  EXPECT_EQ(again.block.value, block.value);
  const auto pairs = sparse::of_pairs(sparse::RowPartition::even(5, world().size()));
  const auto values = random_pairs(pairs);
  save_vector(world(), folder.path("x.petsc"), values, pairs, true);
  world().barrier();
  const auto vector = folder.file("x.gz", compress_gzip(content_of(folder.path("x.petsc"))));
  EXPECT_EQ(load_vector(world(), vector, pairs, true), values);
}

TEST(MatrixSource, RealVectorsOfComplexSystems) {
  const TemporaryFolder folder(world());
  const auto pairs = sparse::of_pairs(sparse::RowPartition::even(2, world().size()));
  const std::string array = "%%MatrixMarket matrix array real general\n2 1\n3\n4\n";
  for (const auto& path :
       {folder.file("b.mtx", array), folder.file("b.gz", compress_gzip(array)),
        folder.file("b.txt", "3\n4\n"), folder.file("b.npy", numpy::array_header("|u1", "2,") + "\3\4")})
    EXPECT_EQ(gathered(load_vector(world(), path, pairs, true)), (std::vector<double>{3, 0, 4, 0})) << path;
  const auto three = sparse::of_pairs(sparse::RowPartition::even(3, world().size()));
  EXPECT_EQ(input_error_of([&] { load_vector(world(), folder.path("b.mtx"), three, true); }),
            folder.path("b.mtx") + ", line 2: 2 x 1, where a vector of 3 x 1 is needed");
}

TEST(MatrixSource, ComplexVectorsOfRealSystemsAreRefused) {
  const TemporaryFolder folder(world());
  const auto pairs = sparse::of_pairs(sparse::RowPartition::even(2, world().size()));
  const Array<double> values = random_pairs(pairs);
  for (const char* name : {"b.mtx", "b.mtx.gz", "b.npy", "b.petsc"}) {
    const std::string path = folder.path(name);
    save_vector(world(), path, values, pairs, true);
    for (const std::int64_t rows : {2, 4}) {
      const auto partition = sparse::RowPartition::even(rows, world().size());
      EXPECT_EQ(input_error_of([&] { load_vector(world(), path, partition); }),
                path +
                    ": complex values, but the matrix is real: give real and imaginary part as two "
                    "right-hand sides");
    }
    const auto three = sparse::of_pairs(sparse::RowPartition::even(3, world().size()));
    EXPECT_TRUE(contains(input_error_of([&] { load_vector(world(), path, three, true); }), path));
  }
}

TEST(MatrixSource, ColumnsOfComplexFiles) {
  const TemporaryFolder folder(world());
  const auto pairs = sparse::of_pairs(sparse::RowPartition::even(2, world().size()));
  const std::vector<double> numbers{1, 2, 0, 4, 5, 6, 7, 0};
  const std::string bytes(reinterpret_cast<const char*>(numbers.data()), sizeof(double) * numbers.size());
  const auto table = folder.file("B.npy", numpy::array_header("<c16", "2, 2") + bytes);
  const auto array =
      folder.file("B.mtx", "%%MatrixMarket matrix array complex general\n2 2\n1 2\n5 6\n0 4\n7 0\n");
  for (const auto& path : {table, array}) {
    EXPECT_EQ(count_vectors(world(), path), 2);
    EXPECT_EQ(gathered(load_vector(world(), path + ":1", pairs, true)), (std::vector<double>{1, 2, 5, 6}));
    EXPECT_EQ(gathered(load_vector(world(), path + ":2", pairs, true)), (std::vector<double>{0, 4, 7, 0}));
    EXPECT_TRUE(contains(input_error_of([&] { load_vector(world(), path + ":3", pairs, true); }),
                         "there is no column 3 of 2"));
  }
  EXPECT_TRUE(contains(input_error_of([&] { load_vector(world(), table, pairs, true); }),
                       "2 columns, where one is needed: say which"));
  const auto row = folder.file("r.npy", numpy::array_header("<c16", "1, 4") + bytes);
  const auto four = sparse::of_pairs(sparse::RowPartition::even(4, world().size()));
  EXPECT_EQ(count_vectors(world(), row), 1);
  EXPECT_EQ(gathered(load_vector(world(), row, four, true)), numbers);
}

TEST(MatrixSource, FormatsTellComplexFiles) {
  const TemporaryFolder folder(world());
  const auto block = random_complex();
  for (const char* name : {"A.mtx", "A.npz", "A.petsc"}) {
    for (const bool is_complex : {false, true}) {
      save_matrix(world(), folder.path(name), block, is_complex);
      world().barrier();
      const FileBytes file(folder.path(name));
      EXPECT_EQ(format_of(file).is_complex(file, ""), is_complex) << name;
      world().barrier();
    }
  }
}

}  // namespace
}  // namespace ayatori::io
