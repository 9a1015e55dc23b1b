#pragma once

#include <cstdint>
#include <vector>

#include "ayatori/solvers/device/device_method.hpp"

namespace ayatori::solvers {

/// What every method on a device works with: sums over ranks that reach its steps, vectors with room for
/// ghosts, and the residual at the start.
class DeviceWork {
 public:
  /// Collective. Carries x and b over. `vectors`: beside these. Throws EnvironmentError (agreed).
  DeviceWork(const DeviceSystem& system, ConstVector x, int vectors);
  ~DeviceWork();
  DeviceWork(const DeviceWork&) = delete;
  DeviceWork& operator=(const DeviceWork&) = delete;

  gpu::Device& device() const { return system_.a.device(); }
  std::int32_t size() const { return system_.a.local_size(); }
  double* x() const { return x_.data(); }
  double* operator[](int i) const { return vectors_[i].data(); }

  /// Collective. r = (b - A x) / its norm, which is returned. Where that has no finite inverse, r is not
  /// scaled.
  double scaled_residual(double* r) const;
  /// Collective. Waits.
  double dot(const double* u, const double* v) const;
  void run(const gpu::VectorStep& step) const { device().run(step, size()); }
  void copy(const double* from, double* to) const { device().copy(to, from, size() * sizeof(double)); }
  void copy_out(Vector x) const { device().copy_out(x.data(), x_.data(), x.size_bytes()); }

 private:
  const DeviceSystem& system_;
  gpu::DeviceArray<double> x_;
  gpu::DeviceArray<double> b_;
  gpu::DeviceArray<double> sum_;
  std::vector<gpu::DeviceArray<double>> vectors_;
};

/// The best x of a method whose residual norm rises and falls, as far as it is looked at.
class BestOnDevice {
 public:
  BestOnDevice(const DeviceWork& work, double* store) : work_(work), store_(store) {
    work_.copy(work_.x(), store_);
  }
  /// x has this norm now.
  void look(double norm) {
    now_ = norm;
    if (!(norm < best_)) return;
    best_ = norm;
    work_.copy(work_.x(), store_);
  }
  /// Puts the best x back if it is not the last one; its norm.
  double restore() {
    if (now_ <= best_) return now_;
    work_.copy(store_, work_.x());
    return best_;
  }

 private:
  const DeviceWork& work_;
  double* store_;
  double now_ = 1;
  double best_ = 1;
};

}  // namespace ayatori::solvers
