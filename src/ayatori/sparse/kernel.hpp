#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "ayatori/sparse/csr.hpp"
#include "ayatori/sparse/pattern/pattern.hpp"

namespace ayatori::sparse {

/// A storage format with its matrix-vector product, on one rank. Holds its own copy of the matrix, placed in
/// memory by the threads that will use it, or refers to the matrix that it was made from, which outlives it.
template <class Real>
class KernelOf {
 public:
  virtual ~KernelOf() = default;

  /// y = A x, the same bits for the same number of threads. An element of x that is not finite changes only
  /// rows that refer to it by an entry that is not zero. One product at a time: a kernel may keep buffers.
  virtual void multiply(std::span<const Real> x, std::span<Real> y) const = 0;

  /// Bytes of matrix storage read by one product; with 8 (rows + columns) + 8 rows for the vectors (in single
  /// precision half of that), the least traffic.
  virtual std::int64_t matrix_bytes() const = 0;
};
using Kernel = KernelOf<double>;
using FloatKernel = KernelOf<float>;

/// An entry in the list of kernels: a name to force it by, what it would cost, and how to build it.
struct KernelType {
  std::string_view name;
  std::string_view description;
  double conversion_products;  ///< what make() usually takes, in products with compressed sparse rows

  /// Kernel::matrix_bytes() of the kernel that make() would build, as exact as the facts are; nothing if the
  /// format cannot hold the matrix, or only at more than most_bytes().
  std::optional<std::int64_t> (*predicted_bytes)(const PatternFacts& facts);

  /// Loads and stores through an index that a product will make, where predicted_bytes() promises one.
  double (*indexed_accesses)(const PatternFacts& facts);

  /// Throws InputError if the format cannot hold the matrix, which facts found on a sample may have promised.
  std::unique_ptr<Kernel> (*make)(const Csr& matrix);

  /// The kernel of a part that cannot be symmetric, beside one of this type; its own name if empty.
  std::string_view beside = {};

  /// make() for scale A, values, vectors and sums in single precision; none if the format has no such form.
  std::unique_ptr<FloatKernel> (*make_float)(const Csr& matrix, double scale) = nullptr;

  /// Stores compressed sparse rows, in as many bytes whatever the pattern.
  bool compressed_rows = false;
};

/// Every kernel, reference first. Adding one is a file in kernels/ and a line in kernels/list.cpp.
std::span<const KernelType> kernels();

/// The kernel of this name. Throws InputError that lists the names.
const KernelType& kernel(std::string_view name);

/// A kernel for the halo part of a matrix, beside `interior` for the rest: of the same format, if that can
/// hold it, in fewer bytes than compressed sparse rows, with a vector of sums written and read beside the
/// matrix; none otherwise. `facts`: of the halo part, found where they are needed and not there yet.
std::unique_ptr<Kernel> make_halo_kernel(const KernelType& interior, const Csr& halo,
                                         std::optional<PatternFacts>& facts);

}  // namespace ayatori::sparse
