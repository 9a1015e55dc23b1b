#pragma once

#include "ayatori/base/timing.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

// Decorators that time what they wrap, so that no timer stands in the mathematics. Time that a wrapped part
// spends in products or reductions is theirs, not its own.

namespace ayatori::tuning {

/// Time of products and reductions so far, to be left out of what contains them.
class NestedTime {
 public:
  NestedTime(const sparse::DistributedMatrix& matrix, const solvers::GlobalSum& sum)
      : matrix_(matrix), sum_(sum) {}
  double seconds() const { return matrix_.seconds().total + sum_.seconds(); }

 private:
  const sparse::DistributedMatrix& matrix_;
  const solvers::GlobalSum& sum_;
};

/// Adds to `sum` the time of its own life that was not nested.
class ExclusiveTimer {
 public:
  ExclusiveTimer(double& sum, const NestedTime& nested)
      : sum_(sum), nested_(nested), nested_before_(nested.seconds()) {}
  ~ExclusiveTimer() { sum_ += watch_.seconds() - (nested_.seconds() - nested_before_); }
  ExclusiveTimer(const ExclusiveTimer&) = delete;
  ExclusiveTimer& operator=(const ExclusiveTimer&) = delete;

 private:
  double& sum_;
  const NestedTime& nested_;
  double nested_before_;
  Stopwatch watch_;
};

class TimedOperator final : public sparse::LinearOperator {
 public:
  TimedOperator(const sparse::LinearOperator& inner, double& seconds, const NestedTime& nested)
      : inner_(inner), seconds_(seconds), nested_(nested) {}
  void apply(std::span<const double> x, std::span<double> y) const override {
    const ExclusiveTimer timer(seconds_, nested_);
    inner_.apply(x, y);
  }
  std::int32_t local_size() const override { return inner_.local_size(); }

 private:
  const sparse::LinearOperator& inner_;
  double& seconds_;
  const NestedTime& nested_;
};

inline solvers::Orthogonalize timed(const solvers::Orthogonalization& inner, double& seconds,
                                    const NestedTime& nested) {
  return [&inner, &seconds, &nested](const solvers::GlobalSum& sum, const solvers::Basis& basis,
                                     solvers::Vector w, std::span<double> h) {
    const ExclusiveTimer timer(seconds, nested);
    return inner.apply(sum, basis, w, h);
  };
}

}  // namespace ayatori::tuning
