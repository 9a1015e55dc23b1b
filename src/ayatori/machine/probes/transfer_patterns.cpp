#include "ayatori/machine/probes/transfer_patterns.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "ayatori/comm/transfers/persistent_requests.hpp"
#include "ayatori/comm/transfers/window.hpp"
#include "ayatori/machine/profile.hpp"

namespace ayatori::machine {

namespace {

constexpr int tag = 1;
constexpr std::int64_t any_length = std::int64_t{64} << 20;
constexpr std::int64_t moderate = std::int64_t{4} << 20;

/// Messages that go there and back, by blocking calls (half a ping-pong).
class OneWay final : public Transfer {
 public:
  explicit OneWay(const TransferLink& link) : link_(link) {}
  int messages(std::int64_t) const override { return 2; }
  void run(std::int64_t bytes, int repetitions) override {
    const auto& [comm, role, out, in, channel] = link_;
    for (int k = 0; k < repetitions; ++k) {
      if (role.is_first) comm.send(out.first(bytes), role.partner, tag);
      comm.recv(in.first(bytes), role.partner, tag);
      if (!role.is_first) comm.send(out.first(bytes), role.partner, tag);
    }
  }

 private:
  TransferLink link_;
};

/// Two messages that cross.
class BothWays final : public Transfer {
 public:
  explicit BothWays(const TransferLink& link) : link_(link) {}
  int messages(std::int64_t) const override { return 1; }
  void run(std::int64_t bytes, int repetitions) override {
    const auto& [comm, role, out, in, channel] = link_;
    for (int k = 0; k < repetitions; ++k) {
      std::array requests{comm.irecv(in.first(bytes), role.partner, tag),
                          comm.isend(out.first(bytes), role.partner, tag)};
      comm::wait_all(requests);
    }
  }

 private:
  TransferLink link_;
};

/// There and back by non-blocking calls, the receive posted before the message is on its way.
class NonBlocking final : public Transfer {
 public:
  explicit NonBlocking(const TransferLink& link) : link_(link) {}
  int messages(std::int64_t) const override { return 2; }
  void run(std::int64_t bytes, int repetitions) override {
    const auto& [comm, role, out, in, channel] = link_;
    for (int k = 0; k < repetitions; ++k) {
      auto receive = comm.irecv(in.first(bytes), role.partner, tag);
      if (!role.is_first) receive.wait();
      comm.isend(out.first(bytes), role.partner, tag).wait();
      receive.wait();
    }
  }

 private:
  TransferLink link_;
};

/// A row of messages without waiting, then one empty message back.
class Burst final : public Transfer {
 public:
  explicit Burst(const TransferLink& link) : link_(link) {}
  int messages(std::int64_t bytes) const override {
    return static_cast<int>(std::clamp<std::int64_t>(std::ssize(link_.in) / bytes, 1, 64));
  }
  void run(std::int64_t bytes, int repetitions) override {
    const auto& [comm, role, out, in, channel] = link_;
    const int count = messages(bytes);
    for (int k = 0; k < repetitions; ++k) {
      requests_.clear();
      for (int m = 0; m < count; ++m) {
        requests_.push_back(role.is_first ? comm.isend(out.first(bytes), role.partner, tag)
                                          : comm.irecv(in.subspan(m * bytes, bytes), role.partner, tag));
      }
      comm::wait_all(requests_);
      if (role.is_first)
        comm.recv(in.first(0), role.partner, tag);
      else
        comm.send(out.first(0), role.partner, tag);
    }
  }

 private:
  TransferLink link_;
  std::vector<comm::Request> requests_;
};

#ifndef AYATORI_SMPI  // 3.32 does not complete persistent requests
/// There and back by requests that are prepared once.
class Persistent final : public Transfer {
 public:
  explicit Persistent(const TransferLink& link) : link_(link), send_(link.comm), receive_(link.comm) {}
  int messages(std::int64_t) const override { return 2; }
  void prepare(std::int64_t bytes) override {
    send_ = comm::PersistentRequests(link_.comm);
    receive_ = comm::PersistentRequests(link_.comm);
    send_.add_send(link_.out.first(bytes), link_.role.partner, tag);
    receive_.add_receive(link_.in.first(bytes), link_.role.partner, tag);
  }
  void run(std::int64_t, int repetitions) override {
    for (int k = 0; k < repetitions; ++k) {
      receive_.start();
      if (!link_.role.is_first) receive_.wait();
      send_.start();
      send_.wait();
      if (link_.role.is_first) receive_.wait();
    }
  }

 private:
  TransferLink link_;
  comm::PersistentRequests send_;
  comm::PersistentRequests receive_;
};
#endif

/// The first of a pair writes into the second's memory, and both know when it may and when it is done.
class Put final : public Transfer {
 public:
  explicit Put(const TransferLink& link)
      : link_(link), window_(link.comm, moderate, as_origin(link.role), as_target(link.role)) {}
  int messages(std::int64_t) const override { return 1; }
  void run(std::int64_t bytes, int repetitions) override {
    for (int k = 0; k < repetitions; ++k) {
      window_.post();
      window_.start();
      if (link_.role.is_first) window_.put(link_.out.first(bytes), link_.role.partner, 0);
      window_.complete();
      window_.wait();
    }
  }

 private:
  static std::vector<int> as_origin(const Role& role) {
    return role.takes_part() && !role.is_first ? std::vector{role.partner} : std::vector<int>{};
  }
  static std::vector<int> as_target(const Role& role) {
    return role.takes_part() && role.is_first ? std::vector{role.partner} : std::vector<int>{};
  }

  TransferLink link_;
  comm::Window window_;
};

#ifndef AYATORI_SMPI  // simulated ranks share no memory
/// Through the memory of a node.
class ThroughMemory : public Transfer, private comm::ChannelUser {
 public:
  explicit ThroughMemory(const TransferLink& link) : link_(link) {
    if (link_.channel != nullptr) link_.channel->set_element(1);
  }

 protected:
  void send(std::int64_t bytes) const {
    link_.channel->begin_send(link_.out.first(bytes), link_.role.partner);
  }
  void receive(std::int64_t bytes) const {
    link_.channel->begin_receive(link_.in.first(bytes), link_.role.partner);
  }
  void finish() { link_.channel->finish(*this); }
  bool is_first() const { return link_.role.is_first; }

 private:
  void combine(const std::byte*, std::byte*, std::int64_t) override {}  // nothing that comes is combined
  void poke() override { link_.comm.poke(); }

  TransferLink link_;
};

class OneWayThroughMemory final : public ThroughMemory {
 public:
  using ThroughMemory::ThroughMemory;
  int messages(std::int64_t) const override { return 2; }
  void run(std::int64_t bytes, int repetitions) override {
    for (int k = 0; k < 2 * repetitions; ++k) {
      if (is_first() == (k % 2 == 0))
        send(bytes);
      else
        receive(bytes);
      finish();
    }
  }
};

class BothWaysThroughMemory final : public ThroughMemory {
 public:
  using ThroughMemory::ThroughMemory;
  int messages(std::int64_t) const override { return 1; }
  void run(std::int64_t bytes, int repetitions) override {
    for (int k = 0; k < repetitions; ++k) {
      receive(bytes);
      send(bytes);
      finish();
    }
  }
};

/// Where all pairs are inside nodes.
template <class T>
std::unique_ptr<Transfer> make_through_memory(const TransferLink& link) {
  const bool reaches =
      !link.role.takes_part() || (link.channel != nullptr && link.channel->reaches(link.role.partner));
  if (link.comm.any(!reaches)) return nullptr;
  return std::make_unique<T>(link);
}
#endif

template <class T>
std::unique_ptr<Transfer> make(const TransferLink& link) {
  return std::make_unique<T>(link);
}

}  // namespace

std::span<const TransferPattern> transfer_patterns() {
  static constexpr std::array list{
      TransferPattern{"one-way", "half a ping-pong of blocking calls", any_length, true, true, make<OneWay>},
      TransferPattern{"both-ways", "two messages that cross", any_length, true, true, make<BothWays>},
      TransferPattern{"burst", "a message of up to 64 in a row", moderate, false, true, make<Burst>},
      TransferPattern{"non-blocking", "half a ping-pong of non-blocking calls, receives first", moderate,
                      false, false, make<NonBlocking>},
#ifndef AYATORI_SMPI
      TransferPattern{one_way_through_memory, "half a ping-pong through the memory of a node", any_length,
                      true, true, make_through_memory<OneWayThroughMemory>},
      TransferPattern{both_ways_through_memory, "two messages that cross in the memory of a node", any_length,
                      true, true, make_through_memory<BothWaysThroughMemory>},
      TransferPattern{"persistent", "half a ping-pong of persistent requests", moderate, false, false,
                      make<Persistent>},
#endif
      TransferPattern{"put", "a one-sided put with its synchronisation", moderate, false, false, make<Put>}};
  return list;
}

}  // namespace ayatori::machine
