#include <array>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/sparse/kernels/kernels.hpp"

namespace ayatori::sparse {

std::span<const KernelType> kernels() {
  static const std::array list{
      csr_reference_kernel, csr_kernel,   csr_unroll2_kernel, csr_unroll4_kernel, csr_unroll8_kernel,
      csr_delta16_kernel,   sell_kernel,  run_sell_kernel,    dia_kernel,         bcsr2_kernel,
      bcsr3_kernel,         bcsr4_kernel, symmetric_kernel,   sell_tiles_kernel,  symmetric_tiles_kernel,
      complex_csr_kernel};
  return list;
}

const KernelType& kernel(std::string_view name) {
  return find_named(kernels(), name, "kernel");
}

std::unique_ptr<Kernel> make_halo_kernel(const KernelType& interior, const Csr& halo,
                                         std::optional<PatternFacts>& facts) {
  const KernelType& type = interior.beside.empty() ? interior : kernel(interior.beside);
  if (halo.nonzeros() == 0 || type.compressed_rows) return nullptr;
  if (!facts) facts = pattern_facts(halo);
  const std::int64_t sums = std::int64_t{16} * halo.rows;
  const auto bytes = type.predicted_bytes(*facts);
  if (!bytes || *bytes + sums >= csr_bytes(halo.rows, halo.nonzeros())) return nullptr;
  try {
    return type.make(halo);
  } catch (const InputError&) {  // facts found on a sample had promised more
    return nullptr;
  }
}

}  // namespace ayatori::sparse
