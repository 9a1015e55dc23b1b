#pragma once

#include "ayatori/session/option.hpp"

namespace ayatori::session {

// Options of every request that wants a session: what the members `collectives` and `threads` hold.

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
          .range = std::pair(0.0, std::numeric_limits<double>::max())};
}

}  // namespace ayatori::session
