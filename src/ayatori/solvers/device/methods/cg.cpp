#include "ayatori/solvers/device/methods/batches.hpp"
#include "ayatori/solvers/device/methods/device_methods.hpp"
#include "ayatori/solvers/methods/definiteness.hpp"

namespace ayatori::solvers {

namespace {

/// Preconditioned conjugate gradients (Hestenes & Stiefel 1952) in three steps: within a device a sum costs
/// no message, so that the classical form moves least. Traffic beside A and M: 11 doubles per row.
class DeviceCg {
 public:
  DeviceCg(const DeviceSystem& system, Vector x, const MethodOptions& options, const Progress& progress)
      : system_(system),
        x_(x),
        work_(system, x, 5),
        monitor_(system.sum, options, progress, work_.scaled_residual(r_)),
        batches_(
            work_, system, options, monitor_, [this] { iterate(); }, recorded_with(system.m), 1),
        best_(work_, work_[4]) {}

  MethodResult solve() {
    if (monitor_.stopped()) return monitor_.result();
    batches_.put();
    system_.m.apply(r_, z_);
    work_.run(gpu::CgWeigh{batches_.state(), r_, z_});
    work_.run(gpu::CgDirection{batches_.state(), z_, p_});
    batches_.run([this](double norm) { best_.look(norm); });
    if (!monitor_.stopped()) explain();
    monitor_.correct(best_.restore());
    work_.copy_out(x_);
    return monitor_.result();
  }

 private:
  void iterate() {
    auto* state = batches_.state();
    const double* d = system_.m.diagonal();
    system_.a.multiply(p_, gpu::CgProduct{state, p_, q_});
    work_.run(gpu::CgUpdate{state, p_, q_, d, work_.x(), r_, z_});
    if (d == nullptr) {
      system_.m.apply(r_, z_);
      work_.run(gpu::CgWeigh{state, r_, z_});
    }
    work_.run(gpu::CgDirection{state, z_, p_});
  }

  /// Why the device has ended without having met the target.
  void explain() {
    switch (batches_.now.ended) {
      case gpu::Ended::curvature: {
        const double curvature = work_.dot(p_, q_);
        if (check_curvature(monitor_, curvature)) monitor_.breakdown("p^T A p is not positive");
        monitor_.proves_indefinite();
        break;
      }
      case gpu::Ended::preconditioner:
        if (check_preconditioner(monitor_, work_.dot(r_, z_))) monitor_.breakdown("r^T M r is not positive");
        break;
      default:
        monitor_.breakdown("the iteration on the device is not finite: NaN or infinity, or overflow");
    }
  }

  const DeviceSystem& system_;
  Vector x_;
  DeviceWork work_;
  double* r_ = work_[0];
  double* z_ = work_[1];
  double* p_ = work_[2];
  double* q_ = work_[3];
  Monitor monitor_;
  Batches<gpu::CgState> batches_;
  BestOnDevice best_;
};

}  // namespace

const DeviceMethod device_cg{
    .name = "cg",
    .solve = [](const DeviceSystem& system, Vector x, const MethodOptions& options,
                const Progress& progress) { return DeviceCg(system, x, options, progress).solve(); },
    .steps = 3};

}  // namespace ayatori::solvers
