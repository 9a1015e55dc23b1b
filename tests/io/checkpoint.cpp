#include "ayatori/io/checkpoint.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/random.hpp"
#include "error_text.hpp"
#include "temporary_folder.hpp"
#include "world.hpp"

namespace ayatori::io {
namespace {

/// The rows of this rank of a vector that every rank knows.
Array<double> vector_of(Range rows) {
  Array<double> x;
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    x.push_back(random_uniform(1, static_cast<std::uint64_t>(i)) - 0.5);
  return x;
}

/// Two thirds of the rows on rank 0.
sparse::RowPartition uneven(std::int64_t n) {
  std::vector<std::int64_t> starts(world().size() + 1, n);
  starts[0] = 0;
  if (world().size() > 1) starts[1] = 2 * n / 3;
  return sparse::RowPartition(starts);
}

void write(const std::string& path, std::int64_t n) {
  const auto rows = sparse::RowPartition::even(n, world().size());
  write_checkpoint(world(), path, "it was midnight", vector_of(rows.range(world().rank())), rows);
}

TEST(Checkpoint, IsReadWithAnyPartition) {
  const TemporaryFolder folder(world());
  for (const std::int64_t n : {0, 1, 3, 1000}) {
    SCOPED_TRACE(n);
    write(folder.path("c"), n);
    const auto read = read_checkpoint(world(), folder.path("c"), uneven(n));
    EXPECT_EQ(read.note, "it was midnight");
    EXPECT_EQ(read.x, vector_of(uneven(n).range(world().rank())));
    const auto alone =
        read_checkpoint(comm::Comm::self(), folder.path("c"), sparse::RowPartition::even(n, 1));
    EXPECT_EQ(alone.x, vector_of({0, n}));
    world().barrier();
  }
}

TEST(Checkpoint, EveryFlippedByteAndEveryCutIsFound) {
  const TemporaryFolder folder(world());
  write(folder.path("c"), 4);
  const std::string good = content_of(folder.path("c"));
  const auto rows = sparse::RowPartition::even(4, world().size());
  for (std::size_t k = 0; k < good.size(); ++k) {
    SCOPED_TRACE(k);
    std::string bad = good;
    bad[k] = static_cast<char>(bad[k] ^ 0x10);
    const auto path = folder.file("bad", bad);
    EXPECT_TRUE(contains(input_error_of([&] { read_checkpoint(world(), path, rows); }), path));
    const auto cut = folder.file("cut", good.substr(0, k));
    EXPECT_TRUE(contains(input_error_of([&] { read_checkpoint(world(), cut, rows); }), cut));
  }
  const auto longer = folder.file("longer", good + "x");
  EXPECT_TRUE(contains(input_error_of([&] { read_checkpoint(world(), longer, rows); }), "damaged"));
}

TEST(Checkpoint, OfAnotherLengthOrNone) {
  const TemporaryFolder folder(world());
  write(folder.path("c"), 4);
  const auto rows = sparse::RowPartition::even(5, world().size());
  EXPECT_TRUE(contains(input_error_of([&] { read_checkpoint(world(), folder.path("c"), rows); }),
                       "4 elements, but the matrix has 5 rows"));
  const auto text = folder.file("A.mtx", "%%MatrixMarket matrix\n");
  EXPECT_TRUE(contains(input_error_of([&] { read_checkpoint(world(), text, rows); }), "not a checkpoint"));
  EXPECT_TRUE(contains(input_error_of([&] { read_checkpoint(world(), folder.path("none"), rows); }), "none"));
}

}  // namespace
}  // namespace ayatori::io
