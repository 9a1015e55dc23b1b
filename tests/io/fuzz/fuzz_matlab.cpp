#include "ayatori/base/error.hpp"
#include "ayatori/io/matlab.hpp"
#include "environment.hpp"

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
