#pragma once

#include "ayatori/comm/comm.hpp"

namespace ayatori {

/// All ranks of the test.
inline const comm::Comm& world() {
  static const comm::Comm comm = comm::Comm::world();
  return comm;
}

}  // namespace ayatori
