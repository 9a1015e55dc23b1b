#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ayatori/gpu/matrix.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/products/ghost_exchange.hpp"

namespace ayatori::solvers {

/// A distributed matrix whose products a device makes: of each rank its own, or one that several share.
/// Ghosts travel through the host.
class DeviceMatrix {
 public:
  /// Collective. Throws EnvironmentError (agreed) when a device has no memory for it. The matrix stays
  /// referred to.
  DeviceMatrix(gpu::Device& device, const sparse::DistributedMatrix& matrix);

  /// Collective. A x, row by row, into a step. x has vector_size() elements; those behind local_size() are
  /// set.
  void multiply(double* x, const gpu::ProductStep<double>& step) const;

  std::int32_t local_size() const { return local_size_; }
  /// Own elements and ghosts.
  std::int64_t vector_size() const { return vector_size_; }
  gpu::Device& device() const { return *device_; }
  const sparse::DistributedMatrix& matrix() const { return *matrix_; }
  const gpu::Matrix<double>& stored() const { return stored_; }

 private:
  void fetch_ghosts(double* x) const;

  gpu::Device* device_;
  const sparse::DistributedMatrix* matrix_;
  std::int32_t local_size_;
  std::int64_t vector_size_;
  gpu::Matrix<double> stored_;
  gpu::DeviceArray<std::int32_t> send_index_;
  gpu::DeviceArray<double> packed_;
  mutable Array<double> sent_;
  mutable std::optional<sparse::GhostExchange<double>> exchange_;
};

}  // namespace ayatori::solvers
