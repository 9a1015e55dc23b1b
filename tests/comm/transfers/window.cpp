#include "ayatori/comm/transfers/window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"

namespace ayatori::comm {
namespace {

class WindowTest : public testing::Test {
 protected:
  const Comm comm = Comm::world();
  const int rank = comm.rank();
  const int next = (rank + 1) % comm.size();
  const int previous = (rank + comm.size() - 1) % comm.size();

  /// Rank r puts r + `extra` elements into the next rank's memory, from position 2 on, several times.
  void expect_ring(int extra, std::int64_t longest) const {
    const std::int64_t arriving = previous + extra;
    Window window(comm, static_cast<std::int64_t>(sizeof(double)) * (arriving + 2), std::span(&previous, 1),
                  std::span(&next, 1), longest);
    auto* memory = reinterpret_cast<double*>(window.data());
    memory[0] = memory[1] = -1;
    std::vector<double> data(rank + extra);
    for (int round = 0; round < 4; ++round) {
      window.post();
      for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = 1000 * rank + round + 0.25 * static_cast<double>(i);
      window.start();
      window.put(std::span<const double>(data), next, 2);
      window.complete();
      window.wait();
      EXPECT_EQ(memory[0], -1);
      EXPECT_EQ(memory[1], -1);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < arriving; ++i)
        wrong += memory[i + 2] != 1000 * previous + round + 0.25 * static_cast<double>(i) ? 1 : 0;
      EXPECT_EQ(wrong, 0);
    }
  }
};

TEST_F(WindowTest, RingOfEveryLength) {
  for (const int extra : {1, 2, 3, 1000, 200000}) expect_ring(extra, max_message);
}

/// Windows as long as there is room, all at once, and what is more refused on all ranks.
TEST_F(WindowTest, AreThereOrRefused) {
  std::vector<Window> windows;
  int refused = 0;
  for (std::int64_t bytes = 1 << 14; bytes <= 1 << 22; bytes *= 2) {
    try {
      Window& window = windows.emplace_back(comm, bytes, std::span(&previous, 1), std::span(&next, 1));
      std::fill_n(window.data(), bytes, std::byte{1});
    } catch (const Error& error) {
      EXPECT_TRUE(error.agreed()) << error.what();
      ++refused;
    }
  }
  EXPECT_EQ(comm.allreduce<std::int64_t>(refused, ReduceOp::max), refused);
  EXPECT_EQ(std::ssize(windows) + refused, 9);
  comm.barrier();
}

TEST_F(WindowTest, LongPutsAreCut) {
  expect_ring(100, 7);
}

TEST_F(WindowTest, OneWritesToAll) {
  const int root = comm.size() - 1;
  std::vector<int> others(comm.size() - 1);
  for (int r = 0; r < root; ++r) others[r] = r;
  const bool is_root = rank == root;
  Window first(comm, is_root ? 0 : 8, is_root ? std::span<const int>() : std::span(&root, 1),
               is_root ? std::span<const int>(others) : std::span<const int>());
  Window window = std::move(first);
  for (int round = 0; round < 3; ++round) {
    const double value = round + 0.5;
    window.post();
    window.start();
    if (is_root) {
      for (const int r : others) window.put(std::span(&value, 1), r, 0);
    }
    window.complete();
    window.wait();
    if (is_root) continue;
    EXPECT_EQ(*reinterpret_cast<const double*>(window.data()), value);
  }
}

}  // namespace
}  // namespace ayatori::comm
