#pragma once

#include "ayatori/gpu/device.hpp"

// Each kind of device is a file; list.cpp names them all.

namespace ayatori::gpu {

/// Where nothing can be recorded but the calls.
class Repetition final : public Recording {
 public:
  explicit Repetition(std::function<void()> work) : work_(std::move(work)) {}
  void launch() override { work_(); }

 private:
  std::function<void()> work_;
};

#ifdef AYATORI_HAS_CUDA
extern const DeviceType cuda_device;
#endif
extern const DeviceType host_device;

}  // namespace ayatori::gpu
