#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ayatori/gpu/device.hpp"

namespace ayatori::gpu {

/// Every test runs on the processor in the place of a device, and on a GPU where there is one.
class OnDevice : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const DeviceType& type = device_type(GetParam());
    const std::string why = type.why_not();
    if (!why.empty()) GTEST_SKIP() << "no device for these cases: " << why;
    device_ = type.open(0);
  }
  Device& device() { return *device_; }

 private:
  std::unique_ptr<Device> device_;
};

}  // namespace ayatori::gpu
