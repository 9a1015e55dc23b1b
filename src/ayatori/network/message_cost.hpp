#pragma once

#include "ayatori/machine/profile.hpp"

namespace ayatori::network {

/// A line for what messages cost that follow each other: the alpha-beta model without its pieces
/// (machine::TransferModel). Zeros where nothing is known.
struct MessageCost {
  double latency = 0;    ///< seconds of a message
  double bandwidth = 0;  ///< bytes per second

  double seconds(double messages, double bytes) const {
    return bandwidth > 0 ? messages * latency + bytes / bandwidth : 0;
  }
};

/// No message of the job takes less: by the fastest level, one pair at a time, and the fastest of all that
/// were timed.
MessageCost message_bound(const machine::Profile& profile);

/// The least latency and the widest bandwidth of a single message, by the models of one way, by messages and
/// through memory.
MessageCost fastest_messages(const machine::Profile& profile);

/// Messages of this many pairs at once that take alpha + beta x.
machine::TransferCurve one_way(int pairs, double alpha, double beta);

}  // namespace ayatori::network
