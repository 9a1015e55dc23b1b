#include "ayatori/comm/shared_memory/node_channel.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/// Copied twice, or once.
class NodeChannels : public testing::TestWithParam<Copies> {
 protected:
  Comm comm_ = Comm::world();
  int me_ = comm_.rank();
  int ranks_ = comm_.size();
  std::unique_ptr<NodeChannel> channel_ = make_node_channel(comm_, comm_.split_by_node());
  Copies copies_ = GetParam();
  Sums user_;

  void SetUp() override {
    if (ranks_ > 1) {
      ASSERT_TRUE(channel_);
      channel_->set_element(sizeof(double));
      if (copies_ == Copies::one && !channel_->can_copy_once()) GTEST_SKIP() << "the kernel does not let us";
    } else {
      ASSERT_FALSE(channel_);
    }
  }
};

/// Everybody sends everybody everything at once: shorter than a line, longer than all cells together.
TEST_P(NodeChannels, OneMessageForAll) {
  if (ranks_ == 1) GTEST_SKIP();
  for (const std::int64_t count : {1, 30, 31, 500, 4097, 300000}) {
    auto mine = sequence(count, 1000 * me_);
    std::vector<std::vector<double>> theirs(ranks_, std::vector<double>(count));
    for (int r = 0; r < ranks_; ++r) {
      if (r != me_) channel_->begin_receive(bytes_of(theirs[r]), r);
    }
    for (int r = 0; r < ranks_; ++r) {
      if (r != me_) channel_->begin_send(bytes_of(mine), r, copies_);
    }
    channel_->finish(user_);
    theirs[me_] = mine;
    for (int r = 0; r < ranks_; ++r)
      ASSERT_EQ(theirs[r], sequence(count, 1000 * r)) << count << " from " << r;
  }
}

/// Sums in place of what is being sent, in the order of the receives, whoever comes late: the same bits.
TEST_P(NodeChannels, SumsLandInTheirOrder) {
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
      if (r != me_) channel_->begin_send(bytes_of(data), r, copies_);
    }
    if (me_ == late) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    channel_->finish(user_);
    ASSERT_EQ(data, std::vector<double>(count, expected));
  }
}

TEST_P(NodeChannels, TheSameTwiceAndNothing) {
  if (ranks_ == 1) GTEST_SKIP();
  auto mine = sequence(5000, me_);
  std::vector<double> nothing;
  std::vector<std::vector<double>> theirs(2, std::vector<double>(5000));
  const int to = (me_ + 1) % ranks_;
  const int from = (me_ + ranks_ - 1) % ranks_;
  channel_->begin_receive(bytes_of(nothing), from);
  for (auto& place : theirs) channel_->begin_receive(bytes_of(place), from);
  channel_->begin_send(bytes_of(nothing), to, copies_);
  for (int again = 0; again < 2; ++again) channel_->begin_send(bytes_of(mine), to, copies_);
  channel_->finish(user_);
  for (const auto& place : theirs) EXPECT_EQ(place, sequence(5000, from));
}

/// Two swap what they have, piece by piece, and others combine in place: what is sent from there goes first.
TEST_P(NodeChannels, SwapsAndSumsInPlaceOfPairs) {
  const int peer = me_ ^ 1;
  if (peer >= ranks_) GTEST_SKIP();
  for (const bool combines : {false, true}) {
    for (const std::int64_t count : {1, 511, 512, 2048, 2049, 100001}) {
      for (const int late : {0, 1}) {
        auto data = sequence(count, 1000 * me_);
        channel_->begin_receive(bytes_of(data), peer, {.combines = combines, .after_sends = true});
        channel_->begin_send(bytes_of(data), peer, copies_);
        if (me_ % 2 == late) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        channel_->finish(user_);
        auto expected = sequence(count, 1000 * peer);
        for (std::int64_t i = 0; combines && i < count; ++i)
          expected[i] += 1000 * me_ + static_cast<double>(i);
        ASSERT_EQ(data, expected) << count;
      }
    }
  }
}

/// One combines what all others send to it alone, in the order of the receives.
TEST_P(NodeChannels, SumsOfOne) {
  if (ranks_ == 1) GTEST_SKIP();
  constexpr double values[] = {1e16, 1, -1e16, 1};
  for (const std::int64_t count : {700, 250001}) {
    std::vector<double> data(count, values[me_]);
    double expected = values[0];
    for (int r = 1; r < ranks_ && me_ == 0; ++r) {
      channel_->begin_receive(bytes_of(data), r, {.combines = true, .after_previous = r > 1});
      expected += values[r];
    }
    if (me_ > 0) channel_->begin_send(bytes_of(data), 0, copies_);
    if (me_ == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    channel_->finish(user_);
    ASSERT_EQ(data, std::vector<double>(count, me_ == 0 ? expected : values[me_]));
  }
}

/// Stages follow each other at once: who has sent writes to the same place for the next, which a reader may
/// not see.
TEST_P(NodeChannels, SendersGoOnWhenTheyWereRead) {
  if (ranks_ == 1) GTEST_SKIP();
  constexpr std::int64_t count = 20000;
  std::vector<double> mine(count);
  std::vector<double> theirs(count);
  const int to = (me_ + 1) % ranks_;
  const int from = (me_ + ranks_ - 1) % ranks_;
  for (int stage = 0; stage < 30; ++stage) {
    std::iota(mine.begin(), mine.end(), 100 * me_ + stage);
    channel_->begin_receive(bytes_of(theirs), from);
    channel_->begin_send(bytes_of(mine), to, copies_);
    channel_->start();
    channel_->finish(user_);
    ASSERT_EQ(theirs, sequence(count, 100 * from + stage));
  }
}

/// More messages in a stage than can be announced at once, of all lengths, and stage after stage.
TEST_P(NodeChannels, ManyMessagesKeepTheirOrder) {
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
      channel_->begin_send(bytes_of(sent[m]), to, copies_);
    }
    channel_->finish(user_);
    for (int m = 0; m < messages; ++m) ASSERT_EQ(received[m], sequence(count_of(m), m + 100 * from));
  }
}

INSTANTIATE_TEST_SUITE_P(Copies, NodeChannels, testing::Values(Copies::two, Copies::one),
                         [](const auto& one) { return one.param == Copies::one ? "Once" : "Twice"; });

#ifdef SYS_memfd_secret
/// Pages of which the kernel does not copy the second half, though the program sees them: memfd_secret().
class HalfSecretMemory {
 public:
  explicit HalfSecretMemory(std::size_t bytes) : bytes_(bytes) {
    const auto file = static_cast<int>(syscall(SYS_memfd_secret, 0));
    if (file < 0) return;
    const std::size_t half = bytes / 2;
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    is_there_ = memory_ != MAP_FAILED && ftruncate(file, static_cast<off_t>(half)) == 0 &&
                mmap(static_cast<std::byte*>(memory_) + half, half, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
    close(file);
  }
  HalfSecretMemory(const HalfSecretMemory&) = delete;
  HalfSecretMemory& operator=(const HalfSecretMemory&) = delete;
  ~HalfSecretMemory() {
    if (memory_ != MAP_FAILED) munmap(memory_, bytes_);
  }
  bool is_there() const { return is_there_; }
  std::span<double> doubles() const { return {static_cast<double*>(memory_), bytes_ / sizeof(double)}; }

 private:
  std::size_t bytes_;
  void* memory_ = MAP_FAILED;
  bool is_there_ = false;
};

/// What the kernel does not give goes by cells: from the middle of a message, or from its beginning.
TEST_P(NodeChannels, WhatTheKernelRefusesArrives) {
  if (ranks_ == 1) GTEST_SKIP();
  constexpr std::int64_t count = 32768;
  const int to = (me_ + 1) % ranks_;
  const int from = (me_ + ranks_ - 1) % ranks_;
  const HalfSecretMemory secret(count * sizeof(double));
  if (comm_.any(!secret.is_there())) GTEST_SKIP() << "no memory that is secret";
  const auto doubles = secret.doubles();
  std::iota(doubles.begin(), doubles.end(), 1000 * me_);
  for (const bool combines : {false, true}) {
    // a channel that has not met any, whose messages begin where the kernel copies, or where it does not
    for (const std::int64_t begin : {std::int64_t{0}, count / 2}) {
      channel_ = make_node_channel(comm_, comm_.split_by_node());
      channel_->set_element(sizeof(double));
      std::vector<double> theirs(count - begin, 0.0);
      for (int again = 0; again < 2; ++again) {
        channel_->begin_receive(bytes_of(theirs), from, {.combines = combines});
        channel_->begin_send(std::as_bytes(doubles.subspan(begin)), to, copies_);
      }
      channel_->finish(user_);
      auto expected = sequence(count - begin, static_cast<double>(1000 * from + begin));
      for (double& value : expected) value *= combines ? 2 : 1;
      ASSERT_EQ(theirs, expected);
      auto mine = sequence(count - begin, me_);  // and all that comes later
      channel_->begin_receive(bytes_of(theirs), from);
      channel_->begin_send(bytes_of(mine), to, copies_);
      channel_->finish(user_);
      ASSERT_EQ(theirs, sequence(count - begin, from));
    }
  }
}
#endif
#endif

}  // namespace
}  // namespace ayatori::comm
