#pragma once

#include "ayatori/solvers/device/device_method.hpp"

// Each file of this folder defines one; list.cpp names them all.

namespace ayatori::solvers {

extern const DeviceMethod device_bicgstab;
extern const DeviceMethod device_cg;
extern const DeviceMethod device_gmres;

}  // namespace ayatori::solvers
