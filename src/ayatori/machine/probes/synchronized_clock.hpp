#pragma once

#include "ayatori/comm/comm.hpp"

namespace ayatori::machine {

/// The clock of rank 0 on every rank, so that all can begin at the same moment. Clocks drift apart: make a
/// new one after some seconds.
class SynchronizedClock {
 public:
  /// Collective. Takes the offset to rank 0 from the fastest of some round trips, along a tree: a logarithm
  /// of the ranks, one after the other. Ranks of the same `node` have the same clock.
  SynchronizedClock(const comm::Comm& comm, int node);

  /// Seconds by rank 0's clock.
  double now() const;
  /// Waits until then; false if it is past already.
  bool wait_until(double time) const;

 private:
  double offset_ = 0;  ///< offset of this rank's clock to that of rank 0
};

}  // namespace ayatori::machine
