#pragma once

#include "ayatori/base/timing.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/products/float_operator.hpp"
#include "ayatori/tuning/product/product_tuner.hpp"
#include "ayatori/tuning/solve.hpp"

// Decorators that time what they wrap, so that no timer stands in the mathematics. Time that a wrapped part
// spends in products or reductions is theirs, not its own.

namespace ayatori::tuning {

/// Readings of all clocks, or differences of such: seconds on this rank.
struct Meter {
  double wall = 0;
  double product = 0;
  double halo = 0;  ///< part of product
  double reduction = 0;
  double building = 0;  ///< making challengers of kernel and halo

  Meter& operator+=(const Meter& other) { return add(other, 1); }
  Meter& operator-=(const Meter& other) { return add(other, -1); }

 private:
  Meter& add(const Meter& other, double sign) {
    wall += sign * other.wall;
    product += sign * other.product;
    halo += sign * other.halo;
    reduction += sign * other.reduction;
    building += sign * other.building;
    return *this;
  }
};

/// Where the readings come from.
class Meters {
 public:
  Meters(const sparse::DistributedMatrix& matrix, const solvers::GlobalSum& sum, const ProductTuner& tuner)
      : matrix_(matrix), sum_(sum), tuner_(tuner) {}

  Meter read() const {
    return {wall_time(), matrix_.seconds().total, matrix_.seconds().halo, sum_.seconds(),
            tuner_.building_seconds()};
  }
  Meter since(const Meter& start) const { return read() -= start; }
  /// Time of what is called from everywhere, to be left out of what contains it.
  double nested() const { return matrix_.seconds().total + sum_.seconds() + tuner_.building_seconds(); }

 private:
  const sparse::DistributedMatrix& matrix_;
  const solvers::GlobalSum& sum_;
  const ProductTuner& tuner_;
};

/// Adds what a method has taken, challengers left out, to the phases and to its trial.
inline void book_iterating(const Meter& own, PhaseSeconds& seconds, Trial& trial) {
  seconds.solve += own.wall - own.building;
  seconds.tuning += own.building;
  seconds.spmv += own.product - own.halo;
  seconds.halo += own.halo;
  seconds.reduction += own.reduction;
  trial.solve_seconds += own.wall - own.building;
}

/// Adds to `sum` the time of its own life that was not nested.
class ExclusiveTimer {
 public:
  ExclusiveTimer(double& sum, const Meters& meters)
      : sum_(sum), meters_(meters), nested_before_(meters.nested()) {}
  ~ExclusiveTimer() { sum_ += watch_.seconds() - (meters_.nested() - nested_before_); }
  ExclusiveTimer(const ExclusiveTimer&) = delete;
  ExclusiveTimer& operator=(const ExclusiveTimer&) = delete;

 private:
  double& sum_;
  const Meters& meters_;
  double nested_before_;
  Stopwatch watch_;
};

class TimedOperator final : public sparse::LinearOperator, public sparse::FloatApplicable {
 public:
  TimedOperator(const sparse::LinearOperator& inner, double& seconds, const Meters& meters)
      : inner_(inner),
        in_float_(dynamic_cast<const sparse::FloatApplicable*>(&inner)),
        seconds_(seconds),
        meters_(meters) {}
  bool has_float() const override { return in_float_ != nullptr && in_float_->has_float(); }
  void apply_float(std::span<const float> x, std::span<float> y, double scale) const override {
    const ExclusiveTimer timer(seconds_, meters_);
    in_float_->apply_float(x, y, scale);
  }
  void apply(std::span<const double> x, std::span<double> y) const override {
    const ExclusiveTimer timer(seconds_, meters_);
    inner_.apply(x, y);
  }
  std::int32_t local_size() const override { return inner_.local_size(); }

 private:
  const sparse::LinearOperator& inner_;
  const sparse::FloatApplicable* in_float_;  ///< the same, or nullptr
  double& seconds_;
  const Meters& meters_;
};

/// The products of a split form count as its own time, but for the halo.
class TimedSplitForm final : public solvers::SplitForm {
 public:
  TimedSplitForm(const solvers::SplitForm& inner, double& seconds, const Meters& meters)
      : inner_(inner), seconds_(seconds), meters_(meters) {}
  void apply(std::span<const double> x, std::span<double> z, std::span<double> w,
             std::span<double> u) const override {
    const ExclusiveTimer timer(seconds_, meters_);
    inner_.apply(x, z, w, u);
  }
  void to_split(std::span<double> r) const override {
    const ExclusiveTimer timer(seconds_, meters_);
    inner_.to_split(r);
  }
  void from_split(std::span<const double> seen, std::span<double> r) const override {
    const ExclusiveTimer timer(seconds_, meters_);
    inner_.from_split(seen, r);
  }

 private:
  const solvers::SplitForm& inner_;
  double& seconds_;
  const Meters& meters_;
};

inline solvers::Orthogonalize timed(const solvers::Orthogonalization& inner, double& seconds,
                                    const Meters& meters) {
  return [&inner, &seconds, &meters](const solvers::GlobalSum& sum, const solvers::Basis& basis,
                                     solvers::Vector w, std::span<double> h) {
    const ExclusiveTimer timer(seconds, meters);
    return inner.apply(sum, basis, w, h);
  };
}

}  // namespace ayatori::tuning
