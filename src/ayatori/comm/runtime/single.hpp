#pragma once

#include "ayatori/comm/runtime/transport.hpp"

namespace ayatori::comm {

/// The constants of MPI 5's application binary interface, which `single` has as well.
const Constants& constants_of_abi();

/// MPI of one process: messages to itself, collectives that copy, windows of its own memory. What would wait
/// for ever, as a receive that no message comes for, is an error instead.
const Transport& single_transport();

}  // namespace ayatori::comm
