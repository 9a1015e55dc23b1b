#include "ayatori/base/error.hpp"
#include "ayatori/io/numpy.hpp"
#include "environment.hpp"

/// A file, read as an archive and as an array.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto alone = ayatori::comm::Comm::self();
  const ayatori::io::MemoryBytes file({reinterpret_cast<const char*>(data), size});
  try {
    ayatori::io::read_npz(alone, file);
  } catch (const ayatori::InputError&) {
  }
  try {
    ayatori::io::read_npy(alone, file);
  } catch (const ayatori::InputError&) {
  }
  return 0;
}
