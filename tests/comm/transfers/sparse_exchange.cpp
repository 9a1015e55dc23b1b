#include "ayatori/comm/transfers/sparse_exchange.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ayatori::comm {
namespace {

struct Particle {
  double place;
  int from;
  int to;
  bool operator==(const Particle&) const = default;
};

/// What rank `from` sends to rank `to` in a round: about every third pair has something, itself included.
std::vector<Particle> sent(int round, int from, int to) {
  const int mix = (7 * from + 5 * to + 3 * round) % 9;
  std::vector<Particle> particles;
  for (int i = 0; i < (mix < 3 ? 1 + 2 * mix : 0); ++i) particles.push_back({0.5 * i + round, from, to});
  return particles;
}

TEST(SparseExchange, BringsWhatIsSent) {
  const Comm comm = Comm::world();
  for (int round = 0; round < 20; ++round) {
    std::vector<Particle> data;
    std::vector<Particle> expected;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int64_t> arrived{0};
    for (int r = 0; r < comm.size(); ++r) {
      const auto to = sent(round, comm.rank(), r);
      const auto from = sent(round, r, comm.rank());
      data.insert(data.end(), to.begin(), to.end());
      expected.insert(expected.end(), from.begin(), from.end());
      offsets.push_back(static_cast<std::int64_t>(data.size()));
      arrived.push_back(static_cast<std::int64_t>(expected.size()));
    }
    const auto received = sparse_alltoallv(comm, std::span<const Particle>(data), offsets);
    EXPECT_EQ(received.values, expected);
    EXPECT_EQ(received.offsets, arrived);
  }
}

TEST(SparseExchange, NothingIsFine) {
  const Comm comm = Comm::world();
  const std::vector<std::int64_t> offsets(comm.size() + 1, 0);
  const auto received = sparse_alltoallv(comm, std::span<const double>(), offsets);
  EXPECT_TRUE(received.values.empty());
  EXPECT_EQ(received.offsets, offsets);
}

// One rank tells more than fits a round's first message: here of many receivers, each told many times over.
TEST(SparseExchange, AnnouncementsThatFillSeveralMessagesArrive) {
  const Comm comm = Comm::world();
  constexpr int repeats = 40;
  std::vector<Announcement> sends;
  for (int k = 0; k < repeats; ++k) {
    for (int r = 0; r < comm.size(); ++r) sends.push_back({r, 100 * comm.rank() + r});
  }
  const auto arrived = announce(comm, sends);
  ASSERT_EQ(arrived.size(), static_cast<std::size_t>(repeats * comm.size()));
  for (std::size_t k = 0; k < arrived.size(); ++k) {
    EXPECT_EQ(arrived[k].rank, static_cast<int>(k) / repeats);
    EXPECT_EQ(arrived[k].count, 100 * arrived[k].rank + comm.rank());
  }
}

}  // namespace
}  // namespace ayatori::comm
