#include <array>

#include "ayatori/base/find_named.hpp"
#include "ayatori/sparse/kernels/kernels.hpp"

namespace ayatori::sparse {

std::span<const KernelType> kernels() {
  static const std::array list{csr_reference_kernel, csr_kernel};
  return list;
}

const KernelType& kernel(std::string_view name) {
  return find_named(kernels(), name, "kernel");
}

}  // namespace ayatori::sparse
