#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/solvers/device/device_matrix.hpp"
#include "ayatori/solvers/preconditioner.hpp"

namespace ayatori::solvers {

/// z = M r on a device. Vectors have DeviceMatrix::vector_size() elements.
class DevicePreconditioner {
 public:
  virtual ~DevicePreconditioner() = default;
  /// A diagonal M's elements, in the device's memory: methods then apply it in passing. Else nothing.
  virtual const double* diagonal() const { return nullptr; }
  /// Collective. r and z do not overlap.
  virtual void apply(const double* r, double* z) const = 0;
};

struct BuiltDevicePreconditioner {
  std::unique_ptr<DevicePreconditioner> op;
  std::vector<std::string> notes;
};

/// An entry in the list: the same preconditioner as that of this name on the processor, up to rounding.
struct DevicePreconditionerType {
  std::string_view name;
  /// Collective. Refers to the matrix. Throws Error (agreed).
  BuiltDevicePreconditioner (*make)(const DeviceMatrix& matrix, const GlobalSum& sum,
                                    const PreconditionerOptions& options);
  int steps = 0;        ///< that an application starts, of those that no method makes in passing
  double matrices = 0;  ///< that are carried there, as large as the system's
  bool on_several_ranks = true;
};

/// none, jacobi, block-jacobi, chebyshev, gmres-polynomial, amg. Adding one is a file in
/// device/preconditioners/ and a line in its list.cpp.
std::span<const DevicePreconditionerType> device_preconditioners();
/// Nothing if a device has none of this name.
const DevicePreconditionerType* find_device_preconditioner(std::string_view name);

}  // namespace ayatori::solvers
