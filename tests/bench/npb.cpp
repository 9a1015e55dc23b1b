#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/sparse/pattern/mirror.hpp"
#include "bench/npb/cg.hpp"
#include "bench/npb/matrix.hpp"
#include "bench/npb/random.hpp"

namespace ayatori::bench {
namespace {

/// a x mod 2^46 from products of at most 46 bits, as the specification computes it in doubles.
double randlc(double& x, double a) {
  constexpr double half = 0x1.0p23;
  const double a1 = std::floor(a / half);
  const double a2 = a - half * a1;
  const double x1 = std::floor(x / half);
  const double x2 = x - half * x1;
  const double middle = a1 * x2 + a2 * x1;
  const double low = middle - half * std::floor(middle / half);
  const double sum = half * low + a2 * x2;
  x = sum - 0x1.0p46 * std::floor(sum * 0x1.0p-46);
  return x * 0x1.0p-46;
}

TEST(NpbRandom, IsTheSpecificationsBitForBit) {
  NpbRandom random;
  double x = 314159265;
  for (int k = 0; k < 100000; ++k) ASSERT_EQ(random.next(), randlc(x, 1220703125)) << k;
}

TEST(NpbRandom, FollowsTheRecurrence) {
  NpbRandom random;
  random.next();
  EXPECT_EQ(random.state(), 55909509111989U);  // 314159265 * 5^13 mod 2^46
  EXPECT_EQ(NpbRandom::power(5, 13), 1220703125U);
  EXPECT_EQ(NpbRandom::power(3, 0), 1U);
}

TEST(NpbRandom, SkipsAhead) {
  for (const std::uint64_t count : {0, 1, 2, 3, 17, 1000, 65537}) {
    NpbRandom walking;
    for (std::uint64_t k = 0; k < count; ++k) walking.next();
    NpbRandom skipping;
    skipping.skip(count);
    EXPECT_EQ(skipping.state(), walking.state()) << count;
  }
}

/// A row by global columns.
std::vector<std::pair<std::int64_t, double>> row_of(const sparse::SplitMatrix& matrix, int rank,
                                                    std::int32_t row) {
  std::vector<std::pair<std::int64_t, double>> entries;
  const auto& interior = matrix.interior;
  for (auto k = interior.row_start[row]; k < interior.row_start[row + 1]; ++k)
    entries.emplace_back(matrix.partition.range(rank).begin + interior.column[k], interior.value[k]);
  const auto found = std::ranges::lower_bound(matrix.halo_rows, row);
  if (found != matrix.halo_rows.end() && *found == row) {
    const auto r = found - matrix.halo_rows.begin();
    for (auto k = matrix.halo.row_start[r]; k < matrix.halo.row_start[r + 1]; ++k)
      entries.emplace_back(matrix.plan.ghosts[matrix.halo.column[k]], matrix.halo.value[k]);
  }
  std::ranges::sort(entries);
  return entries;
}

TEST(NpbMatrix, HasTheSameEntriesOnAnyRanksAndThreads) {
  const auto world = comm::Comm::world();
  const auto& size = npb_class("S");
  const auto whole = npb_matrix(comm::Comm::self(), size);
  EXPECT_EQ(whole.interior.rows, 1400);
  EXPECT_EQ(whole.halo.rows, 0);
  for (const int threads : {1, 2}) {
    omp_set_num_threads(threads);
    const auto part = npb_matrix(world, size);
    const Range mine = part.partition.range(world.rank());
    ASSERT_EQ(part.interior.rows, mine.size());
    ASSERT_EQ(part.halo.rows, static_cast<std::int32_t>(part.halo_rows.size()));
    for (std::int32_t row = 0; row < part.interior.rows; ++row) {
      const auto entries = row_of(part, world.rank(), row);
      ASSERT_EQ(entries, row_of(whole, 0, static_cast<std::int32_t>(mine.begin + row)));
    }
  }
}

TEST(NpbMatrix, IsSymmetricWithAscendingColumns) {
  const auto whole = npb_matrix(comm::Comm::self(), npb_class("S")).interior;
  EXPECT_TRUE(sparse::has_mirror_images(whole, {0, whole.rows}));
  double trace = 0;
  for (std::int32_t i = 0; i < whole.rows; ++i) {
    bool has_diagonal = false;
    for (auto k = whole.row_start[i]; k < whole.row_start[i + 1]; ++k) {
      ASSERT_TRUE(k == whole.row_start[i] || whole.column[k - 1] < whole.column[k]);
      if (whole.column[k] != i) continue;
      has_diagonal = true;
      trace += whole.value[k];
    }
    EXPECT_TRUE(has_diagonal) << i;
  }
  // Each v_i gives 0.25 w_i and about 7/3 w_i, and the diagonal 0.1 - shift.
  EXPECT_LT(trace, 1400 * (0.1 - 10 + 0.25 + 7));
  EXPECT_GT(trace, 1400 * (0.1 - 10));
}

TEST(NpbClass, IsFoundByName) {
  EXPECT_EQ(npb_class("D").rows, 1500000);
  EXPECT_EQ(npb_classes().size(), 6U);
  EXPECT_THROW(npb_class("a"), InputError);
}

TEST(NpbCg, FindsTheSpecificationsEigenvalues) {
  const auto world = comm::Comm::world();
  for (const char* name : {"S", "W"}) {
    for (const int threads : {1, 2}) {
      omp_set_num_threads(threads);
      for (const char* reductions : {"1", "2"}) {
        NpbCg cg(world, npb_class(name), {"csr-unroll8", "p2p-irecv-first+overlap", reductions});
        const auto run = cg.run();
        EXPECT_NEAR(run.zeta, npb_class(name).reference_zeta, 1e-9);
        EXPECT_LT(run.residual_norm, 1e-10);
        EXPECT_GT(run.mops, 0);
        EXPECT_GT(run.breakdown.total(), 0);
        EXPECT_LE(run.breakdown.total(), run.seconds * (1 + 1e-9));  // a mean of ranks, and the slowest one
      }
    }
  }
  omp_set_num_threads(1);
}

TEST(NpbCg, ChoosesWhatIsLeftOpen) {
  const auto world = comm::Comm::world();
  NpbCg cg(world, npb_class("S"));
  EXPECT_NE(cg.product().kernel, "csr-reference");
  EXPECT_GT(cg.race().size(), 4U);
  EXPECT_EQ(cg.race().back().item, "reductions");
  EXPECT_EQ(cg.products(), 15 * 26);
  EXPECT_EQ(cg.nonzeros(), npb_matrix(comm::Comm::self(), npb_class("S")).interior.nonzeros());
  EXPECT_EQ(cg.exchanged_bytes() > 0, world.size() > 1);
  EXPECT_NEAR(cg.run().zeta, 8.5971775078648, 1e-9);
}

TEST(NpbCg, RefusesAnotherEigenvalue) {
  NpbClass other = npb_class("S");
  other.reference_zeta *= 1 + 1e-9;
  NpbCg cg(comm::Comm::world(), other, {"csr", "p2p-irecv-first", "2"});
  EXPECT_THROW(cg.run(), InternalError);
}

TEST(NpbCg, RunsAPartOfItsIterations) {
  const auto world = comm::Comm::world();
  for (const int iterations : {1, 2}) {
    NpbCg cg(world, npb_class("S"), {"csr", "p2p-irecv-first", "2", iterations});
    const auto run = cg.run();
    EXPECT_FALSE(run.all_iterations);
    EXPECT_EQ(cg.products(), 26 * iterations);
    EXPECT_GT(std::abs(run.zeta - 8.5971775078648), 1e-9);
  }
}

TEST(NpbCg, SaysBeforehandThatMemoryIsTooSmall) {
  const double giga = 1e9;
  EXPECT_NO_THROW(require_memory(npb_class("D"), 1, "auto", 17 * giga));
  EXPECT_NO_THROW(require_memory(npb_class("D"), 1, "symmetric-tiles", 13 * giga));
  EXPECT_NO_THROW(require_memory(npb_class("C"), 1, "csr", 1 * giga));
  try {
    require_memory(npb_class("D"), 1, "csr", 13 * giga);
    FAIL() << "fits";
  } catch (const EnvironmentError& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("class D has 694 million nonzeros"), std::string::npos) << said;
    EXPECT_NE(said.find("16.7 GB, and 13 are free"), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos);
  }
  EXPECT_NO_THROW(require_memory(npb_class("D"), 16, "csr", 2 * giga));
  EXPECT_THROW(require_memory(npb_class("D"), 16, "csr", 0.5 * giga), EnvironmentError);
}

TEST(NpbMatrix, HasTheNonzerosThatAreExpected) {
  for (const char* name : {"S", "W"}) {
    const auto& size = npb_class(name);
    const auto whole = npb_matrix(comm::Comm::self(), size).interior;
    const auto expected = npb_bytes(size, 1);
    EXPECT_LE(static_cast<double>(whole.nonzeros()), expected.nonzeros);
    EXPECT_GE(static_cast<double>(whole.nonzeros()), 0.97 * expected.nonzeros);
    EXPECT_EQ(expected.matrix, 12 * expected.nonzeros);
  }
}

TEST(NpbCg, RefusesUnknownNames) {
  EXPECT_THROW(check({"csr", "allgather", "1", -1}), InputError);
  EXPECT_THROW(check({"no-such", "auto", "auto"}), InputError);
  EXPECT_THROW(check({"auto", "no-such", "auto"}), InputError);
  EXPECT_THROW(check({"auto", "auto", "3"}), InputError);
  EXPECT_NO_THROW(check({"csr", "allgather+overlap", "1"}));
}

}  // namespace
}  // namespace ayatori::bench
