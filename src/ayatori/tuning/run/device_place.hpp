#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ayatori/machine/profile.hpp"
#include "ayatori/solvers/device/device_matrix.hpp"
#include "ayatori/tuning/facts/facts.hpp"
#include "ayatori/tuning/model/forecast.hpp"
#include "ayatori/tuning/policy/choice.hpp"

namespace ayatori::tuning {

/// The device of a solve: opened, and given the matrix, when the first arm is to run there.
class DevicePlace {
 public:
  /// `figures`: of the device, if known.
  DevicePlace(std::string kind, std::optional<machine::DeviceFigure> figures)
      : kind_(std::move(kind)), figures_(std::move(figures)) {}

  const std::string& kind() const { return kind_; }
  /// Collective. Throws EnvironmentError (agreed) if there is no device, or no memory left on it.
  const solvers::DeviceMatrix& matrix(const std::shared_ptr<sparse::DistributedMatrix>& matrix);

  /// What an arm is expected to take there, `unit` being the seconds of a product here: by the bytes that a
  /// product moves and what the device has been measured to do. As here where nothing was measured.
  Elsewhere price(const Choice& choice, const MatrixFacts& facts, double unit) const;

 private:
  std::string kind_;
  std::optional<machine::DeviceFigure> figures_;
  std::shared_ptr<sparse::DistributedMatrix> from_;
  std::unique_ptr<gpu::Device> device_;
  std::optional<solvers::DeviceMatrix> matrix_;
};

}  // namespace ayatori::tuning
