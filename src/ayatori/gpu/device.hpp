#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ayatori/gpu/formats.hpp"
#include "ayatori/gpu/steps.hpp"

namespace ayatori::gpu {

/// Work that was recorded, to be done again with as few calls as the device allows.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void launch() = 0;
};

/// What computes, with memory of its own: a GPU, or the processor that stands in for one. Work is done in the
/// order in which it is asked for, and calls do not wait for it, unless they say so. All throw
/// EnvironmentError when the device fails.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;
  /// Bytes that can still be allocated, about.
  virtual std::int64_t free_bytes() const = 0;

  /// Throws EnvironmentError if there is no such memory left.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual void copy_in(void* to, const void* from, std::size_t bytes) = 0;   ///< waits
  virtual void copy_out(void* to, const void* from, std::size_t bytes) = 0;  ///< waits
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;      ///< within the device
  virtual void set_zero(void* memory, std::size_t bytes) = 0;
  virtual void synchronize() = 0;  ///< waits

  /// Does a step for i in [0, n).
  virtual void run(const VectorStep& step, std::int32_t n) = 0;
  /// A x, row by row, into a step.
  virtual void multiply(const MatrixView<double>& a, const double* x, const ProductStep<double>& step) = 0;
  virtual void multiply(const MatrixView<float>& a, const float* x, const ProductStep<float>& step) = 0;
  /// Calls work(), which asks for work on this device alone and waits for nothing, and keeps that.
  virtual std::unique_ptr<Recording> record(const std::function<void()>& work) = 0;

  /// Sums of steps are first handed to this, on the host, which may add those of other ranks; then nothing is
  /// recorded but the calls. Empty: they stay on the device.
  void sum_over_ranks(std::function<void(std::span<double>)> sum) { sum_ = std::move(sum); }

 protected:
  std::function<void(std::span<double>)> sum_;
};

/// Elements in a device's memory.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  /// Uninitialised.
  DeviceArray(Device& device, std::size_t n)
      : device_(&device), data_(static_cast<T*>(device.allocate(n * sizeof(T)))), size_(n) {}
  DeviceArray(Device& device, std::span<const T> values) : DeviceArray(device, values.size()) {
    device.copy_in(data_, values.data(), values.size_bytes());
  }
  DeviceArray(DeviceArray&& other) noexcept
      : device_(other.device_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) device_->release(data_);
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  void set_zero() { device_->set_zero(data_, size_ * sizeof(T)); }
  void copy_in(std::span<const T> values) { device_->copy_in(data_, values.data(), values.size_bytes()); }
  void copy_out(std::span<T> values) const { device_->copy_out(values.data(), data_, values.size_bytes()); }

 private:
  Device* device_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// An entry in the list of kinds of devices.
struct DeviceType {
  std::string_view name;
  std::string_view description;
  /// Why there is none here, in a sentence; empty if there is.
  std::string (*why_not)();
  /// The device of this number, modulo their number. Throws EnvironmentError.
  std::unique_ptr<Device> (*open)(int number);
};

/// cuda, and host: the processor, for tests.
std::span<const DeviceType> device_types();

/// Throws InputError that lists the names.
const DeviceType& device_type(std::string_view name);

}  // namespace ayatori::gpu
