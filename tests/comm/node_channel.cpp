#include "ayatori/comm/node_channel.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "ayatori/comm/collectives.hpp"

namespace ayatori::comm {
namespace {

#ifndef AYATORI_SMPI  // simulated ranks share no memory
/// Adds doubles.
class Sums final : public ChannelUser {
 public:
  void poke() override {}
  void combine(const std::byte* in, std::byte* inout, std::int64_t count) override {
    reduce_local(in, inout, count, DataType::float64, ReduceOp::sum);
  }
};

std::span<std::byte> bytes_of(std::vector<double>& data) {
  return std::as_writable_bytes(std::span(data));
}

std::vector<double> sequence(std::int64_t count, double first) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

class NodeChannels : public testing::Test {
 protected:
  Comm comm_ = Comm::world();
  int me_ = comm_.rank();
  int ranks_ = comm_.size();
  std::unique_ptr<NodeChannel> channel_ = make_node_channel(comm_, comm_.split_by_node());
  Sums user_;

  void SetUp() override {
    if (ranks_ > 1) {
      ASSERT_TRUE(channel_);
      channel_->set_element(sizeof(double));
    } else {
      ASSERT_FALSE(channel_);
    }
  }
};

/// Everybody sends everybody everything at once: shorter than a line, longer than all cells together.
TEST_F(NodeChannels, OneMessageForAll) {
  if (ranks_ == 1) GTEST_SKIP();
  for (const std::int64_t count : {1, 30, 31, 500, 4097, 300000}) {
    auto mine = sequence(count, 1000 * me_);
    std::vector<std::vector<double>> theirs(ranks_, std::vector<double>(count));
    for (int r = 0; r < ranks_; ++r) {
      if (r != me_) channel_->begin_receive(bytes_of(theirs[r]), r);
    }
    for (int r = 0; r < ranks_; ++r) {
      if (r != me_) channel_->begin_send(bytes_of(mine), r);
    }
    channel_->finish(user_);
    theirs[me_] = mine;
    for (int r = 0; r < ranks_; ++r)
      ASSERT_EQ(theirs[r], sequence(count, 1000 * r)) << count << " from " << r;
  }
}

/// Sums in place of what is being sent, in the order of the receives, whoever comes late: the same bits.
TEST_F(NodeChannels, SumsLandInTheirOrder) {
  if (ranks_ == 1) GTEST_SKIP();
  constexpr std::int64_t count = 250001;
  constexpr double values[] = {1e16, 1, -1e16, 1};  // whose sum depends on the order
  for (int late = 0; late < ranks_; ++late) {
    std::vector<double> data(count, values[me_]);
    double expected = values[me_];
    for (int r = 0; r < ranks_; ++r) {
      if (r == me_) continue;
      const bool is_first = r == (me_ == 0 ? 1 : 0);
      channel_->begin_receive(bytes_of(data), r,
                              {.combines = true, .after_sends = true, .after_previous = !is_first});
      expected += values[r];
    }
    for (int r = 0; r < ranks_; ++r) {
      if (r != me_) channel_->begin_send(bytes_of(data), r);
    }
    if (me_ == late) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    channel_->finish(user_);
    ASSERT_EQ(data, std::vector<double>(count, expected));
  }
}

TEST_F(NodeChannels, TheSameTwiceAndNothing) {
  if (ranks_ == 1) GTEST_SKIP();
  auto mine = sequence(5000, me_);
  std::vector<double> nothing;
  std::vector<std::vector<double>> theirs(2, std::vector<double>(5000));
  const int to = (me_ + 1) % ranks_;
  const int from = (me_ + ranks_ - 1) % ranks_;
  channel_->begin_receive(bytes_of(nothing), from);
  for (auto& place : theirs) channel_->begin_receive(bytes_of(place), from);
  channel_->begin_send(bytes_of(nothing), to);
  for (int again = 0; again < 2; ++again) channel_->begin_send(bytes_of(mine), to);
  channel_->finish(user_);
  for (const auto& place : theirs) EXPECT_EQ(place, sequence(5000, from));
}

/// More messages in a stage than can be announced at once, of all lengths, and stage after stage.
TEST_F(NodeChannels, ManyMessagesKeepTheirOrder) {
  if (ranks_ == 1) GTEST_SKIP();
  const int to = (me_ + 1) % ranks_;
  const int from = (me_ + ranks_ - 1) % ranks_;
  for (int stage = 0; stage < 20; ++stage) {
    constexpr int messages = 50;
    std::vector<std::vector<double>> sent;
    std::vector<std::vector<double>> received;
    const auto count_of = [&](int m) { return 1 + (m * 7919 + stage * 31) % 6000; };
    for (int m = 0; m < messages; ++m) {
      sent.push_back(sequence(count_of(m), m + 100 * me_));
      received.emplace_back(count_of(m));
    }
    for (int m = 0; m < messages; ++m) {
      channel_->begin_receive(bytes_of(received[m]), from);
      channel_->begin_send(bytes_of(sent[m]), to);
    }
    channel_->finish(user_);
    for (int m = 0; m < messages; ++m) ASSERT_EQ(received[m], sequence(count_of(m), m + 100 * from));
  }
}
#endif

}  // namespace
}  // namespace ayatori::comm
