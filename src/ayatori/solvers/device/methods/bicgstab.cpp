#include "ayatori/solvers/device/methods/batches.hpp"
#include "ayatori/solvers/device/methods/device_methods.hpp"

namespace ayatori::solvers {

namespace {

/// BiCGSTAB (van der Vorst 1992), preconditioned from the right. Where a product with the shadow residual
/// vanishes it starts again from the x reached. Traffic beside A and M: 22 doubles per row and step.
class DeviceBicgstab {
 public:
  DeviceBicgstab(const DeviceSystem& system, Vector x, const MethodOptions& options, const Progress& progress)
      : system_(system),
        x_(x),
        work_(system, x, 8),
        monitor_(system.sum, options, progress, work_.scaled_residual(r_)),
        batches_(
            work_, system, options, monitor_, [this] { iterate(); }, recorded_with(system.m), 2),
        best_(work_, work_[7]) {}

  MethodResult solve() {
    if (monitor_.stopped()) return monitor_.result();
    start(1);
    for (int restarts = 0; !monitor_.stopped(); ++restarts) {
      batches_.run([this](double norm) { best_.look(norm); });
      if (monitor_.stopped()) break;
      if (restarts == most_restarts || batches_.now.ended != gpu::Ended::orthogonal) {
        monitor_.breakdown(batches_.now.ended == gpu::Ended::orthogonal
                               ? "the residual is orthogonal to its shadow, again and again"
                               : "the iteration on the device is not finite: NaN or infinity, or overflow");
        break;
      }
      start(work_.dot(r_, r_));
    }
    monitor_.correct(best_.restore());
    work_.copy_out(x_);
    return monitor_.result();
  }

 private:
  static constexpr int most_restarts = 10;

  /// From the residual, whose square is given, as its own shadow.
  void start(double square) {
    auto& now = batches_.now;
    now.ended = gpu::Ended::no;
    now.alpha = now.beta = 0;
    now.omega = 1;
    now.rho = square;
    batches_.put();
    work_.copy(r_, shadow_);
  }

  void iterate() {
    auto* state = batches_.state();
    const double* d = system_.m.diagonal();
    work_.run(gpu::BicgstabDirection{state, r_, v_, d, p_, p_hat_});
    if (d == nullptr) system_.m.apply(p_, p_hat_);
    system_.a.multiply(p_hat_, gpu::BicgstabFirstProduct{state, shadow_, v_});
    work_.run(gpu::BicgstabHalf{state, v_, d, r_, r_hat_});
    if (d == nullptr) system_.m.apply(r_, r_hat_);
    system_.a.multiply(r_hat_, gpu::BicgstabSecondProduct{state, r_, t_});
    work_.run(gpu::BicgstabUpdate{state, p_hat_, r_hat_, t_, shadow_, work_.x(), r_});
  }

  const DeviceSystem& system_;
  Vector x_;
  DeviceWork work_;
  double* r_ = work_[0];
  double* shadow_ = work_[1];
  double* p_ = work_[2];
  double* p_hat_ = work_[3];
  double* v_ = work_[4];
  double* r_hat_ = work_[5];
  double* t_ = work_[6];
  Monitor monitor_;
  Batches<gpu::BicgstabState> batches_;
  BestOnDevice best_;
};

}  // namespace

const DeviceMethod device_bicgstab{
    .name = "bicgstab",
    .solve = [](const DeviceSystem& system, Vector x, const MethodOptions& options,
                const Progress& progress) { return DeviceBicgstab(system, x, options, progress).solve(); },
    .steps = 3};

}  // namespace ayatori::solvers
