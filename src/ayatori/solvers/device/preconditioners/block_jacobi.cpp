#include "ayatori/solvers/preconditioners/block_jacobi.hpp"

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/device/preconditioners/types.hpp"

namespace ayatori::solvers {

namespace {

/// The inverses of blocks as a matrix, in whatever format suits them.
class BlockJacobi final : public DevicePreconditioner {
 public:
  BlockJacobi(gpu::Device& device, const sparse::Csr& inverses)
      : inverses_(gpu::make_matrix<double>(device, inverses)) {}

  void apply(const double* r, double* z) const override {
    inverses_.multiply(r, gpu::StoreProduct<double>{z});
  }

 private:
  gpu::Matrix<double> inverses_;
};

BuiltDevicePreconditioner make(const DeviceMatrix& matrix, const GlobalSum&,
                               const PreconditionerOptions& options) {
  BlockInverses inverses = block_jacobi_inverses(matrix.matrix(), options);
  return comm::agree(matrix.matrix().comm(), [&] {
    return BuiltDevicePreconditioner{std::make_unique<BlockJacobi>(matrix.device(), inverses.matrix),
                                     std::move(inverses.notes)};
  });
}

}  // namespace

const DevicePreconditionerType device_block_jacobi{
    .name = "block-jacobi", .make = make, .steps = 2, .matrices = 0.5};

}  // namespace ayatori::solvers
