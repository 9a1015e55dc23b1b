#include "ayatori/base/error.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/io/harwell_boeing.hpp"

namespace {

const ayatori::comm::Environment* environment = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  environment = new ayatori::comm::Environment(*argc, *argv);  // for as long as the process lives
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const ayatori::io::MemoryBytes file({reinterpret_cast<const char*>(data), size});
  try {
    ayatori::io::read_harwell_boeing(ayatori::comm::Comm::self(), file);
  } catch (const ayatori::InputError&) {
  }
  return 0;
}
