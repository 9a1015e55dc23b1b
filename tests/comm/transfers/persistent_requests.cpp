#include "ayatori/comm/transfers/persistent_requests.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#ifndef AYATORI_SMPI  // whose persistent requests deadlock when a rank runs ahead (3.32)

namespace ayatori::comm {
namespace {

class Persistent : public testing::Test {
 protected:
  const Comm comm = Comm::world();
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();

  /// A ring, several times round, with other values each time.
  void expect_ring(int length, std::int64_t longest) const {
    std::vector<double> send(length);
    std::vector<double> received(length);
    PersistentRequests requests(comm, longest);
    requests.add_receive(std::span(received), previous, 1);
    requests.add_send(std::span<const double>(send), next, 1);
    for (int round = 0; round < 3; ++round) {
      std::iota(send.begin(), send.end(), 1000 * comm.rank() + round);
      requests.start();
      requests.wait();
      std::vector<double> expected(length);
      std::iota(expected.begin(), expected.end(), 1000 * previous + round);
      EXPECT_EQ(received, expected);
    }
  }
};

TEST_F(Persistent, RingOfEveryLength) {
  for (const int length : {0, 1, 1000, 300000}) expect_ring(length, max_message);
}

TEST_F(Persistent, LongTransfersAreCut) {
  expect_ring(100, 7);
  expect_ring(14, 7);
}

TEST_F(Persistent, NoneIsNothingToWaitFor) {
  PersistentRequests requests(comm);
  requests.start();
  requests.wait();
}

TEST_F(Persistent, Moves) {
  double send = comm.rank();
  double received = -1;
  PersistentRequests first(comm);
  first.add_receive(std::span(&received, 1), previous, 2);
  PersistentRequests second(comm);
  second = std::move(first);
  second.add_send(std::span<const double>(&send, 1), next, 2);
  second.start();
  second.wait();
  EXPECT_EQ(received, previous);
}

}  // namespace
}  // namespace ayatori::comm

#endif
