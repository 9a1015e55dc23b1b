#pragma once

#include <span>
#include <string_view>

#include "ayatori/solvers/device/device_preconditioner.hpp"
#include "ayatori/solvers/method.hpp"

namespace ayatori::solvers {

/// A x = b on a device, with a preconditioner there.
struct DeviceSystem {
  const DeviceMatrix& a;
  const DevicePreconditioner& m;
  ConstVector b;
  const GlobalSum& sum;
};

/// As a MethodFunction, on a device: x is carried there and back. The progress is told of every iteration,
/// but in batches; x on the host stays as it was until the end.
using DeviceMethodFunction = MethodResult (*)(const DeviceSystem& system, Vector x,
                                              const MethodOptions& options, const Progress& progress);

/// An entry in the list: the method of this name, whose iterations do not leave the device.
struct DeviceMethod {
  std::string_view name;
  DeviceMethodFunction solve;
  int steps;           ///< that an iteration starts beside those of M
  bool waits = false;  ///< for the host, in every iteration
};

/// cg, bicgstab, gmres. Adding one is a file in device/methods/ and a line in its list.cpp.
std::span<const DeviceMethod> device_methods();
/// Nothing if there is none of this name.
const DeviceMethod* find_device_method(std::string_view name);

}  // namespace ayatori::solvers
