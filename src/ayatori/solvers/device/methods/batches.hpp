#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "ayatori/solvers/device/methods/device_vectors.hpp"
#include "ayatori/solvers/methods/monitor.hpp"

namespace ayatori::solvers {

/// Iterations on the device whose state the host looks at now and then: they end by themselves where the
/// target is met, so that those of a batch behind it change nothing.
template <class State>
class Batches {
 public:
  /// `iterate`: asks the device for one iteration. `recorded`: iterations that are recorded together.
  /// `products`: of an iteration.
  Batches(const DeviceWork& work, const DeviceSystem& system, const MethodOptions& options, Monitor& monitor,
          std::function<void()> iterate, int recorded, int products)
      : work_(work),
        sum_(system.sum),
        monitor_(monitor),
        state_(work.device(), 1),
        iterate_(std::move(iterate)),
        recorded_(recorded),
        products_(products) {
    now.unit = monitor.unit();
    // What the host finds to meet the target the device must find to: it waits for a little less.
    constexpr double little_less = 1 - 1e-10;
    const double target = options.target / monitor.unit() * little_less;
    now.target = target * target;
  }

  State now{};                                    ///< as it was when the host last looked
  State* state() const { return state_.data(); }  ///< on the device
  void put() { state_.copy_in({&now, 1}); }

  /// Collective. Until the monitor or the device ends it. Tells of the norm after every batch.
  template <class Look>
  void run(Look&& look) {
    while (!monitor_.stopped() && now.ended == gpu::Ended::no) {
      const std::int32_t before = now.iterations;
      run_batch();
      for (std::int32_t k = before; k < now.iterations && !monitor_.stopped(); ++k)
        monitor_.step(std::sqrt(now.squares[k % gpu::most_batched]), products_);
      if (now.iterations > before) look(std::sqrt(now.squares[(now.iterations - 1) % gpu::most_batched]));
    }
  }

 private:
  /// A quarter as many iterations as there have been, so that few are in vain at the end; or more of short
  /// ones, of which waiting for news would take most of the time.
  void run_batch() {
    constexpr double short_seconds = 2e-4;
    int wanted = std::max(now.iterations / 4, 1);
    if (seconds_each_ > 0)
      wanted = std::max(wanted, static_cast<int>(std::min(short_seconds / seconds_each_, 1e3)));
    wanted = std::min(wanted, gpu::most_batched);
    const double before = sum_.agreed_seconds();
    int asked = 0;
    if (now.iterations == 0 || wanted < recorded_) {
      for (; asked < wanted; ++asked) iterate_();
    } else {
      if (!recording_)
        recording_ = work_.device().record([this] {
          for (int i = 0; i < recorded_; ++i) iterate_();
        });
      for (; asked + recorded_ <= wanted; asked += recorded_) recording_->launch();
    }
    state_.copy_out({&now, 1});
    sum_(0.0);  // votes and time
    seconds_each_ = (sum_.agreed_seconds() - before) / asked;
  }

  const DeviceWork& work_;
  const GlobalSum& sum_;
  Monitor& monitor_;
  gpu::DeviceArray<State> state_;
  std::function<void()> iterate_;
  int recorded_;
  int products_;
  double seconds_each_ = 0;  ///< time of an iteration in the last batch, on which the ranks agree
  std::unique_ptr<gpu::Recording> recording_;
};

/// Iterations that are recorded together: more where they consist of few steps.
inline int recorded_with(const DevicePreconditioner& m) {
  constexpr int of_few_steps = 8;
  return m.diagonal() != nullptr ? of_few_steps : 1;
}

}  // namespace ayatori::solvers
