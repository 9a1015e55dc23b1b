#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/statistics.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::bench {

/// Bandwidth of McCalpin's four kernels in bytes per second, all ranks and threads at once, counted as he
/// does: 16, 16, 24 and 24 bytes per element (Nishida, section on STREAM).
struct StreamResult {
  Spread copy;
  Spread scale;
  Spread add;
  Spread triad;
};

/// Three vectors of `elements` doubles per rank, placed by the threads that use them.
class Stream {
 public:
  Stream(comm::Comm comm, std::int64_t elements);

  /// Collective. Runs the four kernels once, each from a barrier to the slowest rank.
  void run();

  /// Forgets what was measured so far: the warm-up.
  void forget() { rates_ = {}; }

  /// Collective. What was measured. Throws EnvironmentError, agreed, if the vectors hold wrong values.
  StreamResult result() const;

 private:
  comm::Comm comm_;
  Array<double> a_;
  Array<double> b_;
  Array<double> c_;
  std::array<std::vector<double>, 4> rates_;  // bytes per second: copy, scale, add, triad
};

/// Collective. Each kernel timed `repetitions` times after a warm-up. Throws EnvironmentError, agreed.
StreamResult stream(const comm::Comm& comm, std::int64_t elements, int repetitions);

}  // namespace ayatori::bench
