#pragma once

#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/linear_operator.hpp"

namespace ayatori::tuning {

/// -A: makes a negative definite system one for the methods that want a positive definite one.
class Negated final : public sparse::LinearOperator {
 public:
  explicit Negated(const sparse::LinearOperator& inner) : inner_(inner) {}
  void apply(std::span<const double> x, std::span<double> y) const override {
    inner_.apply(x, y);
    solvers::scale(-1, y);
  }
  std::int32_t local_size() const override { return inner_.local_size(); }

 private:
  const sparse::LinearOperator& inner_;
};

}  // namespace ayatori::tuning
