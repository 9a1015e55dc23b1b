#include "ayatori/base/error.hpp"
#include "ayatori/io/columns.hpp"
#include "environment.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const ayatori::io::MemoryBytes file({reinterpret_cast<const char*>(data), size});
  try {
    ayatori::io::read_columns(ayatori::comm::Comm::self(), file);
  } catch (const ayatori::InputError&) {
  }
  return 0;
}
