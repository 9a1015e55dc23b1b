#pragma once

#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/sparse/kernel.hpp"

// Each file of this folder defines KernelTypes; list.cpp names them all.

namespace ayatori::sparse {

extern const KernelType csr_reference_kernel;
extern const KernelType csr_kernel;
extern const KernelType csr_unroll2_kernel;
extern const KernelType csr_unroll4_kernel;
extern const KernelType csr_unroll8_kernel;
extern const KernelType csr_delta16_kernel;
extern const KernelType sell_kernel;
extern const KernelType run_sell_kernel;
extern const KernelType dia_kernel;
extern const KernelType bcsr2_kernel;
extern const KernelType bcsr3_kernel;
extern const KernelType bcsr4_kernel;
extern const KernelType symmetric_kernel;
extern const KernelType sell_tiles_kernel;
extern const KernelType symmetric_tiles_kernel;
extern const KernelType complex_csr_kernel;

[[noreturn]] inline void cannot_hold(std::string_view name, std::string_view why) {
  throw InputError(fmt::format("kernel {} cannot hold this matrix: {}, choose another", name, why));
}

/// For make(): throws if a format needs too many bytes.
inline void require_bytes(std::string_view name, std::int64_t bytes, const Csr& matrix) {
  const std::int64_t most = most_bytes(matrix.rows, matrix.nonzeros());
  if (bytes > most) {
    cannot_hold(name, fmt::format("it would take {} bytes for {} nonzeros, more than {}", bytes,
                                  matrix.nonzeros(), most));
  }
}

/// For predicted_bytes().
inline std::optional<std::int64_t> if_not_absurd(std::int64_t bytes, const PatternFacts& facts) {
  if (bytes > most_bytes(facts.rows, facts.nonzeros)) return std::nullopt;
  return bytes;
}

}  // namespace ayatori::sparse
