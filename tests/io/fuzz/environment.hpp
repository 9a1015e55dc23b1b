#pragma once

#include "ayatori/comm/environment.hpp"

/// Called once, before the first input: MPI is there for as long as the process lives.
extern "C" [[gnu::used]] inline int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static const auto* const environment = new ayatori::comm::Environment(*argc, *argv);
  static_cast<void>(environment);
  return 0;
}
