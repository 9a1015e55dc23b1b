#include "ayatori/solvers/preconditioners/polynomials/chebyshev.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/device/preconditioners/types.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"

namespace ayatori::solvers {

namespace {

/// The polynomial of preconditioners/polynomials/chebyshev.cpp, a term in a pass.
class Chebyshev final : public DevicePreconditioner {
 public:
  Chebyshev(const DeviceMatrix& matrix, std::span<const double> inverse, ChebyshevTerms terms)
      : matrix_(matrix),
        terms_(std::move(terms)),
        inverse_(matrix.device(), inverse),
        step_(matrix.device(), matrix.vector_size()),
        other_(matrix.device(), matrix.vector_size()) {}

  void apply(const double* r, double* z) const override {
    gpu::Device& device = matrix_.device();
    const std::int32_t n = matrix_.local_size();
    // The terms take turns between two vectors, and the last is to end in z.
    double* now = terms_.later.size() % 2 == 0 ? z : other_.data();
    double* next = now == z ? other_.data() : z;
    device.run(gpu::ScaledMultiply{terms_.first, inverse_.data(), r, now, step_.data()}, n);
    for (const ChebyshevTerms::Term& term : terms_.later) {
      matrix_.multiply(
          now, gpu::SmoothStep<double>{term.keep, term.gain, inverse_.data(), r, now, step_.data(), next});
      std::swap(now, next);
    }
  }

 private:
  const DeviceMatrix& matrix_;
  ChebyshevTerms terms_;
  gpu::DeviceArray<double> inverse_;
  gpu::DeviceArray<double> step_;
  gpu::DeviceArray<double> other_;
};

BuiltDevicePreconditioner make(const DeviceMatrix& matrix, const GlobalSum& sum,
                               const PreconditionerOptions& options) {
  const ChebyshevSetUp set_up = set_up_chebyshev(matrix.matrix(), sum, options.degree);
  return comm::agree(matrix.matrix().comm(), [&] {
    return BuiltDevicePreconditioner{std::make_unique<Chebyshev>(matrix, set_up.diagonal.value, set_up.terms),
                                     set_up.notes};
  });
}

}  // namespace

const DevicePreconditionerType device_chebyshev{.name = "chebyshev", .make = make, .steps = 5};

}  // namespace ayatori::solvers
