#pragma once

#include <cstdint>

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

/// Collective. Three vectors of `elements` doubles per rank, placed by the threads that use them; each kernel
/// timed `repetitions` times, from a barrier to the slowest rank. Throws EnvironmentError if the vectors hold
/// wrong values afterwards.
StreamResult stream(const comm::Comm& comm, std::int64_t elements, int repetitions);

}  // namespace ayatori::bench
