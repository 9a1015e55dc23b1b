#include "ayatori/base/error.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/io/matlab.hpp"

namespace {

const ayatori::comm::Environment* environment = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  environment = new ayatori::comm::Environment(*argc, *argv);  // for as long as the process lives
  return 0;
}

/// A file, of which the matrix is read.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto alone = ayatori::comm::Comm::self();
  const ayatori::io::MemoryBytes file({reinterpret_cast<const char*>(data), size});
  try {
    ayatori::io::read_mat(alone, file, "");
  } catch (const ayatori::InputError&) {
  }
  return 0;
}
