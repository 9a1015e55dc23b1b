#include "ayatori/solvers/methods/single_precision.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::solvers {

namespace {

/// Collective. The power of two that brings the largest element of y near 1.
double scale_for(const comm::Comm& comm, double largest) {
  largest = comm.allreduce(largest, comm::ReduceOp::max);
  int exponent = 0;
  if (largest > 0 && std::isfinite(largest)) std::frexp(largest, &exponent);
  return std::ldexp(1, std::clamp(-exponent, -1000, 1000));
}

/// In double, on converted vectors; the scale is found from the first. Traffic beside A: 24 bytes per row.
class Converting final : public sparse::FloatOperator {
 public:
  Converting(const comm::Comm& comm, const sparse::LinearOperator& a)
      : comm_(comm), a_(a), x_(a.local_size()), y_(a.local_size()) {}

  void apply_float(std::span<const float> x, std::span<float> y) const override {
    const auto n = static_cast<std::int64_t>(x.size());
    parallel_for(n, [&](std::int64_t i) { x_[i] = static_cast<double>(x[i]); });
    a_.apply(x_, y_);
    if (scale_ == 0) scale_ = scale_for(comm_, local_max_abs(y_));
    parallel_for(n, [&](std::int64_t i) { y[i] = static_cast<float>(scale_ * y_[i]); });
  }
  double scale() const override { return scale_; }

 private:
  const comm::Comm& comm_;
  const sparse::LinearOperator& a_;
  mutable double scale_ = 0;  ///< 0: not known yet
  mutable Array<double> x_;
  mutable Array<double> y_;
};

/// As the operator itself does it in float.
class Applicable final : public sparse::FloatOperator {
 public:
  Applicable(const comm::Comm& comm, const sparse::LinearOperator& a, const sparse::FloatApplicable& in_float)
      : comm_(comm), a_(a), in_float_(in_float) {}

  void apply_float(std::span<const float> x, std::span<float> y) const override {
    if (scale_ == 0) find_scale(x);
    in_float_.apply_float(x, y, scale_);
  }
  double scale() const override { return scale_; }

 private:
  void find_scale(std::span<const float> x) const {
    auto [in, out] = comm::agree(
        comm_, [&] { return std::pair(Array<double>(x.begin(), x.end()), Array<double>(x.size())); });
    a_.apply(in, out);
    scale_ = scale_for(comm_, local_max_abs(out));
  }

  const comm::Comm& comm_;
  const sparse::LinearOperator& a_;
  const sparse::FloatApplicable& in_float_;
  mutable double scale_ = 0;  ///< 0: not known yet
};

}  // namespace

std::unique_ptr<sparse::FloatOperator> float_matrix(const System& system) {
  const comm::Comm& comm = system.sum.comm();
  if (const auto* matrix = dynamic_cast<const sparse::DistributedMatrix*>(&system.a))
    return std::make_unique<sparse::FloatProduct>(*matrix);
  return comm::agree(comm, [&] { return std::make_unique<Converting>(comm, system.a); });
}

std::unique_ptr<sparse::FloatOperator> float_preconditioner(const System& system) {
  const comm::Comm& comm = system.sum.comm();
  const auto* native = dynamic_cast<const sparse::FloatApplicable*>(&system.m);
  if (native != nullptr && native->has_float()) return std::make_unique<Applicable>(comm, system.m, *native);
  return comm::agree(comm, [&] { return std::make_unique<Converting>(comm, system.m); });
}

}  // namespace ayatori::solvers
