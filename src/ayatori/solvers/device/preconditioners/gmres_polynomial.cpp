#include "ayatori/solvers/preconditioners/polynomials/gmres_polynomial.hpp"

#include <utility>

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/device/preconditioners/types.hpp"

namespace ayatori::solvers {

namespace {

/// The polynomial of preconditioners/polynomials/gmres_polynomial.cpp, a factor in a pass or two.
class GmresPolynomial final : public DevicePreconditioner {
 public:
  GmresPolynomial(const DeviceMatrix& matrix, const GmresPolynomialSetUp& set_up)
      : matrix_(matrix),
        roots_(set_up.roots),
        inverse_(matrix.device(), std::span<const double>(set_up.diagonal.value)),
        product_(matrix.device(), matrix.vector_size()),
        other_(matrix.device(), matrix.vector_size()) {}

  void apply(const double* r, double* z) const override {
    gpu::Device& device = matrix_.device();
    const std::int32_t n = matrix_.local_size();
    const double* d = inverse_.data();
    double* product = product_.data();  // what the factors so far make of D^-1 r
    double* other = other_.data();
    device.run(gpu::Multiply{d, r, product}, n);
    device.set_zero(z, n * sizeof(double));
    for (std::size_t j = 0; j < roots_.size(); ++j) {
      if (roots_[j].imag() == 0) {
        const double factor = 1 / roots_[j].real();
        if (j + 1 == roots_.size()) {
          device.run(gpu::Axpy{factor, product, z}, n);
          return;
        }
        matrix_.multiply(product, gpu::RealFactor{factor, d, product, other, z});
        std::swap(product, other);
        continue;
      }
      const double factor = 1 / std::norm(roots_[j]);
      matrix_.multiply(product, gpu::PairOfFactors{2 * roots_[j].real(), factor, d, product, other, z});
      ++j;  // the conjugate
      if (j + 1 == roots_.size()) return;
      matrix_.multiply(other, gpu::SubtractScaledProduct{factor, d, product});
    }
  }

 private:
  const DeviceMatrix& matrix_;
  std::vector<std::complex<double>> roots_;
  gpu::DeviceArray<double> inverse_;
  gpu::DeviceArray<double> product_;
  gpu::DeviceArray<double> other_;
};

BuiltDevicePreconditioner make(const DeviceMatrix& matrix, const GlobalSum& sum,
                               const PreconditionerOptions& options) {
  const GmresPolynomialSetUp set_up = set_up_gmres_polynomial(matrix.matrix(), sum, options.degree);
  return comm::agree(matrix.matrix().comm(), [&] {
    return BuiltDevicePreconditioner{std::make_unique<GmresPolynomial>(matrix, set_up),
                                     set_up.diagonal.notes()};
  });
}

}  // namespace

const DevicePreconditionerType device_gmres_polynomial{.name = "gmres-polynomial", .make = make, .steps = 7};

}  // namespace ayatori::solvers
