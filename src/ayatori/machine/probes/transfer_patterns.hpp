#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/shared_memory/node_channel.hpp"
#include "ayatori/machine/probes/level_pairs.hpp"

namespace ayatori::machine {

/// What a pattern transfers with: buffers of the longest message at least. All ranks have one, also those
/// that take no part.
struct TransferLink {
  const comm::Comm& comm;
  Role role;
  std::span<const std::byte> out;
  std::span<std::byte> in;
  comm::NodeChannel* channel = nullptr;  ///< channel of this rank's node, if it is not alone there
};

/// A way to transfer messages between the two ranks of a pair, which both call it with the same arguments.
class Transfer {
 public:
  virtual ~Transfer() = default;
  /// What is done once per message length, outside the time.
  virtual void prepare(std::int64_t /*bytes*/) {}
  virtual void run(std::int64_t bytes, int repetitions) = 0;
  /// Messages one after the other, or this many in a row, in one repetition: what its time is divided by.
  virtual int messages(std::int64_t bytes) const = 0;
};

struct TransferPattern {
  std::string_view name;
  std::string_view meaning;
  std::int64_t longest;    ///< bytes
  bool for_several_pairs;  ///< measured for several pairs at once, too
  bool in_quick_probes;
  /// Collective, also for ranks that take no part; null on all of them where there is no such way.
  std::unique_ptr<Transfer> (*make)(const TransferLink& link);
};

/// Every way that is measured; the list of what there is.
std::span<const TransferPattern> transfer_patterns();

}  // namespace ayatori::machine
