#pragma once

#include <atomic>

#include "ayatori/base/timing.hpp"

namespace ayatori {

/// Seconds since construction in which the thread that made it was at work: wall time, less what other
/// programs on its core took. Never goes back. May be read by any thread. The kernel is asked once in a
/// millisecond at most. Of a thread that waits for others, waiting would be taken out as well: use it where
/// nothing does.
class WorkClock {
 public:
  WorkClock();
  double seconds() const;

 private:
  double processor_seconds() const;

  int thread_;  ///< the kernel's name of this thread's clock
  double begun_;
  Stopwatch watch_;
  mutable std::atomic<double> looked_ = 0;  ///< wall seconds
  mutable std::atomic<double> taken_ = 0;   ///< by other programs until then
  mutable std::atomic<double> last_ = 0;
};

}  // namespace ayatori
