#include <array>

#include "ayatori/base/find_named.hpp"
#include "ayatori/gpu/devices.hpp"

namespace ayatori::gpu {

namespace {

#ifndef AYATORI_HAS_CUDA
const DeviceType cuda_device{
    .name = "cuda",
    .description = "an NVIDIA GPU",
    .why_not = [] { return std::string("this program was built without device code (AYATORI_CUDA)"); },
    .open = [](int) -> std::unique_ptr<Device> {
      throw EnvironmentError("no device: this program was built without device code (AYATORI_CUDA)");
    }};
#endif

}  // namespace

std::span<const DeviceType> device_types() {
  static const std::array list{cuda_device, host_device};
  return list;
}

const DeviceType& device_type(std::string_view name) {
  return find_named(device_types(), name, "device");
}

}  // namespace ayatori::gpu
