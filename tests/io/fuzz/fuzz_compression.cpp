#include "ayatori/base/error.hpp"
#include "ayatori/io/byte_source.hpp"

/// A file in any compression.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const ayatori::io::MemoryBytes file({reinterpret_cast<const char*>(data), size});
  try {
    ayatori::io::all_bytes(file, std::int64_t{1} << 24);
  } catch (const ayatori::Error&) {  // errors of input, or of a library that was not built in
  }
  return 0;
}
