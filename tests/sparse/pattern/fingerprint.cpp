#include "ayatori/sparse/pattern/fingerprint.hpp"

#include <gtest/gtest.h>

#include "sparse/test_matrices.hpp"

namespace ayatori::sparse {
namespace {

/// By all ranks, with the last one holding most rows, by this rank alone, and of split rows.
std::vector<Fingerprint> fingerprints(const TestMatrix& matrix) {
  const comm::Comm world = comm::Comm::world();
  const comm::Comm self = comm::Comm::self();
  std::vector<std::int64_t> starts(world.size() + 1, matrix.n);
  for (int r = 0; r < world.size(); ++r) starts[r] = matrix.n * r / (2 * world.size());
  return {fingerprint(world, matrix.distribute(world)),
          fingerprint(world, matrix.distribute(world, RowPartition(starts))),
          fingerprint(self, matrix.distribute(self)),
          fingerprint(world, split(world, matrix.distribute(world)))};
}

TEST(Fingerprint, IsTheSameHoweverTheMatrixIsSpread) {
  for (const auto& matrix : awkward_matrices(comm::Comm::world().size())) {
    SCOPED_TRACE(matrix.name);
    const auto all = fingerprints(matrix);
    EXPECT_EQ(all[0], all[1]);
    EXPECT_EQ(all[0], all[2]);
    EXPECT_EQ(all[0], all[3]);
  }
}

TEST(Fingerprint, TellsMatricesApart) {
  const auto matrix = random_matrix(101, 6, 1);
  const auto original = fingerprints(matrix)[0];
  auto other_value = matrix;
  other_value.entries[7].value *= 1 + 1e-15;
  EXPECT_EQ(fingerprints(other_value)[0].pattern, original.pattern);
  EXPECT_NE(fingerprints(other_value)[0].values, original.values);

  auto exchanged = matrix;  // the same values at the same places, but two of them the other way round
  std::swap(exchanged.entries[0].value, exchanged.entries[6].value);
  EXPECT_EQ(fingerprints(exchanged)[0].pattern, original.pattern);
  EXPECT_NE(fingerprints(exchanged)[0].values, original.values);

  auto transposed = matrix;
  for (Entry& entry : transposed.entries) std::swap(entry.row, entry.column);
  EXPECT_NE(fingerprints(transposed)[0].pattern, original.pattern);
  EXPECT_NE(fingerprints(zero_matrix(9))[0], fingerprints(zero_matrix(10))[0]);
}

TEST(Fingerprint, OfAVector) {
  const comm::Comm world = comm::Comm::world();
  auto all = test_vector(97, 3);
  const Range mine = RowPartition::even(97, world.size()).range(world.rank());
  const auto of_all = fingerprint(comm::Comm::self(), all, 0);
  EXPECT_EQ(fingerprint(world, piece(all, mine), mine.begin), of_all);
  std::swap(all[3], all[90]);
  EXPECT_NE(fingerprint(world, piece(all, mine), mine.begin), of_all);
}

}  // namespace
}  // namespace ayatori::sparse
