#pragma once

#include "ayatori/gpu/device.hpp"

// Each kind of device is a file; list.cpp names them all.

namespace ayatori::gpu {

#ifdef AYATORI_HAS_CUDA
extern const DeviceType cuda_device;
#endif
extern const DeviceType host_device;

}  // namespace ayatori::gpu
