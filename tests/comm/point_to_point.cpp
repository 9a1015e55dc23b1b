#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/shared_memory/shared_memory.hpp"
#include "ayatori/comm/transfers/request_list.hpp"

namespace ayatori::comm {
namespace {

class PointToPoint : public testing::Test {
 protected:
  const Comm comm = Comm::world();
  const int rank = comm.rank();
  const int next = (rank + 1) % comm.size();
  const int previous = (rank + comm.size() - 1) % comm.size();
};

TEST_F(PointToPoint, RingOfEveryLength) {
  for (const int length : {0, 1, 1000, 300000}) {  // short messages are buffered, long ones are not
    std::vector<double> send(length);
    std::iota(send.begin(), send.end(), rank);
    std::vector<double> received(length);
    Request receive = comm.irecv(std::span(received), previous, 1);
    comm.send(std::span<const double>(send), next, 1);
    receive.wait();
    std::vector<double> expected(length);
    std::iota(expected.begin(), expected.end(), previous);
    EXPECT_EQ(received, expected);
  }
}

TEST_F(PointToPoint, MessagesOfOneTagStayInOrder) {
  std::vector<std::int64_t> received(20);
  std::vector<std::int64_t> send(20);
  std::iota(send.begin(), send.end(), 100 * rank);
  std::vector<Request> requests;
  for (int i = 0; i < 20; ++i) requests.push_back(comm.irecv(std::span(received).subspan(i, 1), previous, 2));
  for (int i = 0; i < 20; ++i) {
    requests.push_back(comm.isend(std::span<const std::int64_t>(send).subspan(i, 1), next, 2));
  }
  wait_all(requests);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(received[i], 100 * previous + i);
}

TEST_F(PointToPoint, TagsAreToldApart) {
  const std::vector<char> send{'a', 'b'};
  char a = 0;
  char b = 0;
  Request receive_b = comm.irecv(std::span(&b, 1), previous, 4);
  Request receive_a = comm.irecv(std::span(&a, 1), previous, 3);
  Request send_a = comm.isend(std::span(send).subspan(0, 1), next, 3);
  Request send_b = comm.isend(std::span(send).subspan(1, 1), next, 4);
  send_a.wait();
  send_b.wait();
  receive_a.wait();
  receive_b.wait();
  EXPECT_EQ(a, 'a');
  EXPECT_EQ(b, 'b');
}

TEST_F(PointToPoint, BlockingPairs) {
  if (comm.size() < 2) GTEST_SKIP() << "needs two ranks";
  std::vector<double> data{1, 2, 3};
  if (rank == 0) comm.send(std::span<const double>(data), 1, 6);
  if (rank == 1) {
    std::vector<double> received(3);
    comm.recv(std::span(received), 0, 6);
    EXPECT_EQ(received, data);
  }
}

TEST_F(PointToPoint, TestCompletesInTheEnd) {
  const double send = rank;
  double received = -1;
  Request receive = comm.irecv(std::span(&received, 1), previous, 7);
  Request sending = comm.isend(std::span(&send, 1), next, 7);
  while (!receive.test()) {
  }
  EXPECT_EQ(received, previous);
  EXPECT_TRUE(receive.test());  // stays complete
  sending.wait();
}

TEST_F(PointToPoint, WaitsForOneAfterTheOther) {
  std::vector<int> received(5, -1);
  RequestList requests;
  std::vector<int> waiting;  // as the list has them
  for (int i = 0; i < 5; ++i) {
    requests.add(comm.irecv(std::span(received).subspan(i, 1), previous, 10 + i));
    waiting.push_back(i);
  }
  std::vector<int> send(5);
  std::iota(send.begin(), send.end(), 10 * rank);
  RequestList sends;
  for (int i = 5; i-- > 0;) sends.add(comm.isend(std::span<const int>(send).subspan(i, 1), next, 10 + i));
  std::vector<bool> seen(5, false);
  while (requests.size() > 0) {
    const std::size_t done = requests.wait_any();
    ASSERT_LT(done, waiting.size());
    const int i = waiting[done];
    waiting[done] = waiting.back();
    waiting.pop_back();
    EXPECT_FALSE(seen[i]);
    seen[i] = true;
    EXPECT_EQ(received[i], 10 * previous + i);
    EXPECT_EQ(requests.size(), waiting.size());
  }
  EXPECT_EQ(seen, std::vector<bool>(5, true));
  sends.wait_all();
  EXPECT_EQ(sends.size(), 0U);
}

TEST_F(PointToPoint, NothingToWaitForIsDone) {
  Request request;
  request.wait();
  EXPECT_TRUE(request.test());
  std::vector<Request> none;
  wait_all(none);
  RequestList list;
  list.wait_all();
  list.add({});
  list.add({});
  EXPECT_EQ(list.wait_any(), 0U);
  EXPECT_EQ(list.size(), 1U);
  list.wait_all();
  EXPECT_EQ(list.size(), 0U);
}

#ifndef AYATORI_SMPI  // the simulator ends the whole simulation instead
TEST_F(PointToPoint, RankThatDoesNotExistIsAnError) {
  const double value = 1;
  EXPECT_THROW(comm.send(std::span(&value, 1), comm.size(), 8), EnvironmentError);
}
#endif

#ifndef AYATORI_SMPI  // simulated time stands still while a rank looks at memory
/// Also when a message waits that nobody has asked for yet.
TEST_F(PointToPoint, APokeLetsLongMessagesProceed) {
  if (comm.size() == 1) GTEST_SKIP();
  const auto pair = comm.split(comm.rank() < 2 ? 0 : 1, comm.rank());
  if (comm.rank() >= 2) return;
  const SharedMemory memory(pair.split_by_node(), 1);
  std::vector<double> data(1000000, pair.rank());
  auto& has_come = *reinterpret_cast<std::atomic<char>*>(memory.part(0));
  if (pair.rank() == 1) {
    pair.send(std::span<const int>(std::array{1}), 0, 7);
    pair.recv(std::span(data), 0, 8);
    has_come = 1;
    return;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until the short one is there
  Request request = pair.isend(std::span<const double>(data), 1, 8);
  const Stopwatch watch;
  while (has_come == 0 && watch.seconds() < 30) pair.poke();
  EXPECT_EQ(has_come, 1);
  int unexpected = 0;
  pair.recv(std::span(&unexpected, 1), 1, 7);
  request.wait();
}
#endif

}  // namespace
}  // namespace ayatori::comm
