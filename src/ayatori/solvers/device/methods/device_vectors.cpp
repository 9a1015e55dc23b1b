#include "ayatori/solvers/device/methods/device_vectors.hpp"

#include <cmath>

#include "ayatori/comm/agree.hpp"

namespace ayatori::solvers {

DeviceWork::DeviceWork(const DeviceSystem& system, ConstVector x, int vectors) : system_(system) {
  comm::agree(system.sum.comm(), [&] {
    const std::size_t room = system.a.vector_size();
    x_ = {device(), room};
    b_ = {device(), std::span<const double>(system.b)};
    sum_ = {device(), 1};
    for (int i = 0; i < vectors; ++i) {
      vectors_.emplace_back(device(), room);
      vectors_.back().set_zero();
    }
    x_.set_zero();
    device().copy_in(x_.data(), x.data(), x.size_bytes());
  });
  if (system.sum.comm().size() > 1)
    device().sum_over_ranks([&sum = system.sum](std::span<double> values) { sum(values); });
}

DeviceWork::~DeviceWork() {
  device().sum_over_ranks({});
}

double DeviceWork::scaled_residual(double* r) const {
  system_.a.multiply(x(), gpu::SubtractProduct<double>{b_.data(), r});
  const double unit = std::sqrt(dot(r, r));
  if (unit > 0 && std::isfinite(unit) && std::isfinite(1 / unit)) run(gpu::Scale<double>{1 / unit, r, r});
  return unit;
}

double DeviceWork::dot(const double* u, const double* v) const {
  run(gpu::Dot{u, v, sum_.data()});
  double value = 0;
  sum_.copy_out({&value, 1});
  return value;
}

}  // namespace ayatori::solvers
