#include <sys/resource.h>

#include <csignal>
#include <limits>

#include "ayatori/base/random.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/sparse/complex_form.hpp"
#include "dense.hpp"
#include "error_text.hpp"
#include "temporary_folder.hpp"
#include "world.hpp"

namespace ayatori::io {
namespace {

/// Random values at random places, on the rank that owns the row.
sparse::RowBlock random_block(std::int64_t rows, std::int64_t columns, std::int64_t entries_per_row) {
  const auto partition = sparse::RowPartition::even(rows, world().size());
  const Range mine = partition.range(world().rank());
  Array<sparse::Entry> entries;
  for (std::int64_t i = mine.begin; i < mine.end; ++i) {
    for (std::int64_t k = 0; k < entries_per_row; ++k) {
      const auto index = static_cast<std::uint64_t>(i * entries_per_row + k);
      const auto column =
          static_cast<std::int64_t>(random_bits(1, index) % static_cast<std::uint64_t>(columns));
      entries.push_back(
          {i, column, std::ldexp(random_uniform(2, index) - 0.5, static_cast<int>(index % 200) - 100)});
    }
  }
  return assemble(world(), partition, columns, {std::move(entries)});
}

void expect_same(const sparse::RowBlock& a, const sparse::RowBlock& b) {
  EXPECT_EQ(a.global_rows, b.global_rows);
  EXPECT_EQ(a.global_columns, b.global_columns);
  EXPECT_EQ(a.first_row, b.first_row);
  EXPECT_TRUE(a.row_start == b.row_start && a.column == b.column && a.value == b.value);
}

/// The environment's error, agreed by all ranks, that `call` has to throw.
template <class Call>
std::string environment_error_of(Call&& call) {
  try {
    call();
  } catch (const EnvironmentError& error) {
    EXPECT_TRUE(error.agreed());
    return error.what();
  }
  ADD_FAILURE() << "no EnvironmentError";
  return {};
}

TEST(MatrixMarketWrite, ReadsBackTheSame) {
  const TemporaryFolder folder(world());
  for (const char* name : {"A.mtx", "A.mtx.gz"}) {
    for (const auto& block : {random_block(50, 40, 3), random_block(2, 1000, 100), random_block(1, 1, 1),
                              random_block(5, 5, 0), random_block(30'000, 30'000, 5)}) {
      save_matrix(world(), folder.path(name), block);
      expect_same(load_matrix(world(), folder.path(name)).block, block);
    }
  }
}

TEST(MatrixMarketWrite, TextOfAMatrix) {
  const TemporaryFolder folder(world());
  Array<sparse::Entry> entries;
  if (world().rank() == 0) entries = {{0, 2, 0.1}, {2, 0, -1e300}, {2, 1, 4}};
  const auto block =
      assemble(world(), sparse::RowPartition::even(3, world().size()), 3, {std::move(entries)});
  save_matrix(world(), folder.path("A.mtx"), block);
  EXPECT_EQ(content_of(folder.path("A.mtx")),
            "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 3 0.1\n3 1 -1e+300\n3 2 4\n");
}

TEST(MatrixMarketWrite, Vectors) {
  const TemporaryFolder folder(world());
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{7}, std::int64_t{200'000}}) {
    const auto partition = sparse::RowPartition::even(n, world().size());
    Array<double> local;
    const Range mine = partition.range(world().rank());
    for (std::int64_t i = mine.begin; i < mine.end; ++i) {
      local.push_back(i % 5 == 0 ? 0 : random_uniform(3, static_cast<std::uint64_t>(i)));
    }
    for (const char* name : {"x.mtx", "x.mtx.gz"}) {
      save_vector(world(), folder.path(name), local, partition);
      EXPECT_TRUE(load_vector(world(), folder.path(name), partition) == local);
    }
  }
}

TEST(MatrixMarketWrite, TextOfAVector) {
  const TemporaryFolder folder(world());
  const auto partition = sparse::RowPartition::even(3, world().size());
  const std::vector<double> whole{0.5, 0, -3e-7};
  const Range mine = partition.range(world().rank());
  save_vector(world(), folder.path("x.mtx"), std::span(whole).subspan(mine.begin, mine.size()), partition);
  EXPECT_EQ(content_of(folder.path("x.mtx")),
            "%%MatrixMarket matrix array real general\n3 1\n0.5\n0\n-3e-07\n");
}

TEST(MatrixMarketWrite, TextOfComplexOnes) {
  const TemporaryFolder folder(world());
  const std::string matrix =
      "%%MatrixMarket matrix coordinate complex general\n3 2 3\n1 2 0.1 -3\n3 1 -1e+300 0\n3 2 0 4\n";
  save_matrix(world(), folder.path("A.mtx"), load_matrix(world(), folder.file("in.mtx", matrix)).block, true);
  EXPECT_EQ(content_of(folder.path("A.mtx")), matrix);
  const std::string vector = "%%MatrixMarket matrix array complex general\n3 1\n0.5 0\n0 -3e-07\n1 2\n";
  const auto pairs = sparse::of_pairs(sparse::RowPartition::even(3, world().size()));
  save_vector(world(), folder.path("x.mtx"), load_vector(world(), folder.file("in.mtx", vector), pairs, true),
              pairs, true);
  EXPECT_EQ(content_of(folder.path("x.mtx")), vector);
}

TEST(MatrixMarketWrite, LeavesNothingElseBehind) {
  const TemporaryFolder folder(world());
  save_matrix(world(), folder.path("A.mtx"), random_block(9, 9, 2));
  world().barrier();
  const std::filesystem::directory_iterator files(folder.path(""));
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(MatrixMarketWrite, UnwritablePlaces) {
  const TemporaryFolder folder(world());
  const auto block = random_block(9, 9, 2);
  const std::string missing = folder.path("no/such/folder/A.mtx");
  EXPECT_EQ(environment_error_of([&] { save_matrix(world(), missing, block); }),
            missing + ": cannot be written: No such file or directory");
  const std::string directory = folder.path("taken.mtx");
  if (world().rank() == 0) std::filesystem::create_directory(directory);
  world().barrier();
  EXPECT_EQ(environment_error_of([&] { save_matrix(world(), directory, block); }),
            directory + ": cannot be written: Is a directory");
}

/// A limit on the size of files stands for a full disk: write() fails in the same way.
TEST(MatrixMarketWrite, FullDisk) {
  const TemporaryFolder folder(world());
  const auto block = random_block(2000, 2000, 10);
  const std::string path = folder.file("A.mtx", "the old one");
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100'000, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string error = environment_error_of([&] { save_matrix(world(), path, block); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(error, path + ": cannot be written: File too large");
  EXPECT_EQ(content_of(path), "the old one");
  world().barrier();
  const std::filesystem::directory_iterator files(folder.path(""));
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(MatrixMarketWrite, UnknownExtension) {
  const TemporaryFolder folder(world());
  const std::string path = folder.path("A.xyz");
  EXPECT_TRUE(contains(input_error_of([&] { save_matrix(world(), path, random_block(3, 3, 1)); }),
                       path + ": the name of a file to write ends in one of .mtx, .mtx.gz"));
}

}  // namespace
}  // namespace ayatori::io
