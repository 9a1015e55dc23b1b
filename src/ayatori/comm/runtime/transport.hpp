#pragma once

#include <cstddef>

#include "ayatori/comm/runtime/functions.hpp"
#include "ayatori/comm/runtime/handles.hpp"

namespace ayatori::comm {

/// The transport in use: `single` until another is chosen.
struct Transport {
  Constants constants;
  Functions functions;
  std::size_t handle_bytes = sizeof(MPI_Comm);  ///< length of a communicator in the application's memory
};
const Transport& transport();
/// Before MPI begins.
void use_transport(const Transport& chosen);

}  // namespace ayatori::comm
