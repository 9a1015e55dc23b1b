#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/device/preconditioners/types.hpp"

namespace ayatori::solvers {

namespace {

class Diagonal final : public DevicePreconditioner {
 public:
  Diagonal(const DeviceMatrix& matrix, std::span<const double> values)
      : device_(matrix.device()), values_(device_, values) {}

  const double* diagonal() const override { return values_.data(); }
  void apply(const double* r, double* z) const override {
    device_.run(gpu::Multiply{values_.data(), r, z}, static_cast<std::int32_t>(values_.size()));
  }

 private:
  gpu::Device& device_;
  gpu::DeviceArray<double> values_;
};

BuiltDevicePreconditioner make_jacobi(const DeviceMatrix& matrix, const GlobalSum&,
                                      const PreconditionerOptions&) {
  const InverseDiagonal inverse = invert_diagonal(matrix.matrix(), "jacobi");
  return comm::agree(matrix.matrix().comm(), [&] {
    return BuiltDevicePreconditioner{std::make_unique<Diagonal>(matrix, inverse.value), inverse.notes()};
  });
}

BuiltDevicePreconditioner make_none(const DeviceMatrix& matrix, const GlobalSum&,
                                    const PreconditionerOptions&) {
  return comm::agree(matrix.matrix().comm(), [&] {
    const Array<double> ones(matrix.local_size(), 1.0);
    return BuiltDevicePreconditioner{std::make_unique<Diagonal>(matrix, ones), {}};
  });
}

}  // namespace

const DevicePreconditionerType device_jacobi{.name = "jacobi", .make = make_jacobi};
const DevicePreconditionerType device_none{.name = "none", .make = make_none};

}  // namespace ayatori::solvers
