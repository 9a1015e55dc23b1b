#pragma once

#include "ayatori/session/option.hpp"

namespace ayatori::session {

// Options that several requests have.

inline constexpr std::pair not_negative{0.0, std::numeric_limits<double>::max()};

template <class Request>
Option<Request> collectives_option() {
  return {.name = "collectives",
          .place = [](Request& r) -> std::string& { return r.collectives; },
          .help =
              "Tables of schedules (see collectives tune), separated by colons; none; auto: what "
              "AYATORI_COLLECTIVES names"};
}

template <class Request>
Option<Request> threads_option() {
  return {.name = "threads",
          .place = [](Request& r) -> int& { return r.threads; },
          .help = "Threads per rank; 0: all cores",
          .range = not_negative};
}

/// For forecasts.
template <class Request>
Option<Request> memory_bandwidth_option() {
  return {.name = "memory-bandwidth",
          .place = [](Request& r) -> double& { return r.memory_bandwidth; },
          .help = "GB/s of a node with all its ranks at work, for forecasts; 0: as the profile has it",
          .range = not_negative};
}

}  // namespace ayatori::session
