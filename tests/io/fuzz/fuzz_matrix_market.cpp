#include "ayatori/base/error.hpp"
#include "ayatori/io/matrix_market.hpp"
#include "environment.hpp"

/// The first byte is the size of the pieces that the rest, a file, is cut into.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const char> bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    ayatori::io::read_matrix_market(ayatori::comm::Comm::self(), ayatori::io::MemoryBytes(bytes),
                                    {data[0] + 1});
  } catch (const ayatori::InputError&) {
  }
  return 0;
}
