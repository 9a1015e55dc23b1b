#include "ayatori/base/error.hpp"
#include "ayatori/io/petsc_binary.hpp"
#include "environment.hpp"

/// A file, read as a matrix and as a vector of five elements.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto alone = ayatori::comm::Comm::self();
  const ayatori::io::MemoryBytes file({reinterpret_cast<const char*>(data), size});
  try {
    ayatori::io::read_petsc_matrix(alone, file);
  } catch (const ayatori::InputError&) {
  }
  try {
    ayatori::io::read_petsc_vector(alone, file, ayatori::sparse::RowPartition::even(5, 1));
  } catch (const ayatori::InputError&) {
  }
  return 0;
}
