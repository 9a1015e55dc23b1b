#include "ayatori/comm/transfers/pending_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ayatori::comm {
namespace {

TEST(PendingSum, IsTheSameOnAllRanksAndInTheirOrder) {
  const Comm comm = Comm::world();
  PendingSum pending(comm, 3);
  for (const std::size_t length : {std::size_t{1}, std::size_t{3}, std::size_t{40}, std::size_t{0}}) {
    for (int round = 0; round < 5; ++round) {
      const auto term = [&](int rank, std::size_t i) {
        return std::sin(1.0 + rank + 7.0 * static_cast<double>(i) + round) * std::pow(10.0, 5.0 * rank);
      };
      std::vector<double> partial(length);
      for (std::size_t i = 0; i < length; ++i) partial[i] = term(comm.rank(), i);
      pending.start(partial);
      EXPECT_TRUE(pending.is_active());
      std::ranges::fill(partial, -1.0);  // was copied
      if (round % 2 == 1) pending.progress();
      std::vector<double> sums(length);
      pending.finish(sums);
      EXPECT_FALSE(pending.is_active());
      for (std::size_t i = 0; i < length; ++i) {
        double expected = 0;
        double size = 0;
        for (int rank = 0; rank < comm.size(); ++rank) {
          expected += term(rank, i);
          size += std::abs(term(rank, i));
        }
        EXPECT_NEAR(sums[i], expected, 1e-15 * size);
      }
      const auto all = comm.allgatherv(std::span<const double>(sums));
      for (int rank = 0; rank < comm.size(); ++rank)
        EXPECT_TRUE(std::ranges::equal(all.of(rank), sums)) << "bitwise the same";
    }
  }
}

/// Other messages and collectives may come in between, and a sum that nobody asks for ends by itself.
TEST(PendingSum, DisturbsNothing) {
  const Comm comm = Comm::world();
  {
    PendingSum abandoned(comm);
    abandoned.start(std::vector<double>{1.0});
  }
  PendingSum pending(comm);
  pending.start(std::vector<double>{1.0, 2.0});
  EXPECT_EQ(comm.allreduce(1.0, ReduceOp::sum), comm.size());
  comm.barrier();
  std::vector<double> sums(2);
  pending.finish(sums);
  EXPECT_EQ(sums, (std::vector<double>{1.0 * comm.size(), 2.0 * comm.size()}));
}

}  // namespace
}  // namespace ayatori::comm
