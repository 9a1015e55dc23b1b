#pragma once

#include <cstddef>
#include <cstdint>

#include "ayatori/comm/shared_memory/node_channel.hpp"

namespace ayatori::collectives {

/// What carries an executor's messages, and combines what they bring. Ranks are those of the schedule,
/// lengths are in bytes.
class Transport : public comm::ChannelUser {
 public:
  /// Memory by which ranks of this node are reached, too; null if there is none.
  virtual comm::NodeChannel* node_channel() { return nullptr; }

  virtual void begin_receive(std::byte* data, std::int64_t length, int peer, int tag) = 0;
  virtual void begin_send(const std::byte* data, std::int64_t length, int peer, int tag) = 0;
};

/// One that can wait for what was begun.
class WaitingTransport : public Transport {
 public:
  virtual void wait_all() = 0;
  /// The number of a message that has gone or come, by the order in which they were begun; the last one takes
  /// its place.
  virtual std::size_t wait_any() = 0;
};

}  // namespace ayatori::collectives
