#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "ayatori/sparse/csr.hpp"

namespace ayatori::sparse {

/// A storage format with its matrix-vector product, on one rank. Holds its own copy of the matrix, placed in
/// memory by the threads that will use it.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// y = A x
  virtual void multiply(std::span<const double> x, std::span<double> y) const = 0;

  /// Bytes of matrix storage read by one product; with 8 (rows + columns) + 8 rows for the vectors, the least
  /// traffic.
  virtual std::int64_t matrix_bytes() const = 0;
};

/// An entry in the list of kernels: a name to force it by, whether it can hold a matrix, and how to build it.
struct KernelType {
  std::string_view name;
  std::string_view description;
  bool (*supports)(const Csr& matrix);
  std::unique_ptr<Kernel> (*make)(const Csr& matrix);
};

/// Every kernel, reference first. Adding one is a file in kernels/ and a line in kernels/list.cpp.
std::span<const KernelType> kernels();

/// The kernel of this name. Throws InputError that lists the names.
const KernelType& kernel(std::string_view name);

}  // namespace ayatori::sparse
