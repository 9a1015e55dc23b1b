#include "ayatori/io/matrix_source.hpp"

#include "ayatori/io/matrix_market/compress.hpp"
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
  for (const std::string& path : {folder.file("A.mtx", text), folder.file("A.gz", text),
                                  folder.file("A.rsa", matrix_market::compress(text))}) {
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
      contains(error, "no-such-thing: there is no such file, and no generator of this name: there are "));
  EXPECT_TRUE(contains(error, "poisson3d-7"));
}

TEST(MatrixSource, WhatCannotBeRead) {
  const TemporaryFolder folder(world());
  EXPECT_EQ(refusal(folder.path("")), folder.path("") + ": is a directory, not a file");
  EXPECT_EQ(refusal(folder.file("empty", "")), folder.path("empty") + ": the file is empty");
  EXPECT_TRUE(
      contains(refusal(folder.file("random", std::string("\x01\x02\x03\xff\0\0", 6))),
               folder.path("random") + ": binary data of no kind that is known; read are Matrix Market, "));
  EXPECT_TRUE(contains(refusal(folder.file("text", "hello\nworld\n")), "it begins with 'hello'"));
  EXPECT_EQ(refusal(folder.file("cut.gz", matrix_market::compress(text).substr(0, 20))),
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

}  // namespace
}  // namespace ayatori::io
