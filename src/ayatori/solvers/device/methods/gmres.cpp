#include <algorithm>
#include <cmath>
#include <limits>

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/device/methods/device_methods.hpp"
#include "ayatori/solvers/device/methods/device_vectors.hpp"
#include "ayatori/solvers/methods/hessenberg_least_squares.hpp"
#include "ayatori/solvers/methods/monitor.hpp"

namespace ayatori::solvers {

namespace {

/// GMRES(m) (Saad & Schultz 1986), preconditioned from the right, its basis on the device, orthogonalized
/// twice by classical Gram-Schmidt. The small least squares problem is solved on the host, which waits once
/// in a step. The restart length stays as it is told.
class DeviceGmres {
 public:
  DeviceGmres(const DeviceSystem& system, Vector x, const MethodOptions& options, const Progress& progress)
      : system_(system),
        x_(x),
        m_(useful_basis(system, options)),
        work_(system, x, 2),
        stride_(system.a.vector_size()),
        basis_(room(static_cast<std::size_t>(stride_ * (m_ + 1)))),
        small_(room(std::size_t(2) * m_ + 2)),
        host_(small_.size()),
        least_squares_(m_),
        monitor_(system.sum, options, progress, work_.scaled_residual(v(0))) {
    small_.set_zero();
  }

  MethodResult solve() {
    double residual = 1;
    while (!monitor_.stopped()) {
      build(residual);
      if (!update()) {
        monitor_.correct(residual);
        break;
      }
      const double before = residual;
      residual = restart();
      monitor_.correct(residual);
      if (!monitor_.stopped() && !(residual < (1 - no_progress) * before))
        monitor_.stagnated(fmt::format("a cycle of {} vectors gains nothing", m_));
    }
    work_.copy_out(x_);
    return monitor_.result();
  }

 private:
  static constexpr double no_progress = 1e-10;
  static constexpr int together = gpu::BasisDots::sum_count;

  /// Collective.
  gpu::DeviceArray<double> room(std::size_t n) {
    return comm::agree(system_.sum.comm(), [&] { return gpu::DeviceArray<double>(work_.device(), n); });
  }

  static int useful_basis(const DeviceSystem& system, const MethodOptions& options) {
    const double order = system.sum(static_cast<double>(system.b.size()));
    return std::max(1, static_cast<int>(std::min({static_cast<double>(options.restart),
                                                  static_cast<double>(options.max_iterations), order})));
  }

  double* v(int j) const { return basis_.data() + j * stride_; }

  void build(double residual) {
    least_squares_.restart(residual);
    for (int j = 0; j < m_ && !monitor_.stopped(); ++j) {
      system_.m.apply(v(j), z_);
      system_.a.multiply(z_, gpu::StoreProduct<double>{v(j + 1)});
      const double norm = orthogonalize(j + 1);
      system_.sum(0.0);  // votes and time
      if (!least_squares_.append(std::span(host_).first(j + 1), norm)) {
        monitor_.step(least_squares_.residual());
        monitor_.breakdown(
            fmt::format("A M is singular on the Krylov space of {} vectors, or not finite", j + 1));
        return;
      }
      monitor_.step(least_squares_.residual());
      double size = norm;
      for (int i = 0; i <= j; ++i) size = std::max(size, std::abs(host_[i]));
      if (norm <= 10 * std::numeric_limits<double>::epsilon() * size) return;
      work_.run(gpu::Scale<double>{1 / norm, v(j + 1), v(j + 1)});
    }
  }

  /// v_count without what lies in the vectors before it; its norm. host_: the products with these.
  double orthogonalize(int count) {
    double* w = v(count);
    for (int pass = 0; pass < 2; ++pass) {
      double* h = small_.data() + pass * m_;
      for (int k = 0; k < count; k += together)
        work_.run(gpu::BasisDots{v(k), stride_, std::min(together, count - k), w, h + k});
      work_.run(gpu::BasisCombine{basis_.data(), stride_, count, -1, h, w});
    }
    work_.run(gpu::Dot{w, w, small_.data() + std::ptrdiff_t{2} * m_});
    small_.copy_out(host_);
    for (int k = 0; k < count; ++k) host_[k] += host_[m_ + k];
    return std::sqrt(host_[std::size_t(2) * m_]);
  }

  /// x = x + M V y
  bool update() {
    const int k = least_squares_.columns();
    if (k == 0) return false;
    const auto y = least_squares_.solve();
    std::ranges::copy(y, host_.begin());
    small_.copy_in(host_);
    work_.device().set_zero(sum_, work_.size() * sizeof(double));
    work_.run(gpu::BasisCombine{basis_.data(), stride_, k, 1, small_.data(), sum_});
    system_.m.apply(sum_, z_);
    work_.run(gpu::Axpy{monitor_.unit(), z_, work_.x()});
    return true;
  }

  /// v_0 from the residual; its norm, in units of the first.
  double restart() { return work_.scaled_residual(v(0)) / monitor_.unit(); }

  const DeviceSystem& system_;
  Vector x_;
  int m_;
  DeviceWork work_;
  double* z_ = work_[0];
  double* sum_ = work_[1];
  std::int64_t stride_;
  gpu::DeviceArray<double> basis_;
  gpu::DeviceArray<double> small_;  ///< h of both passes, and the square of a norm
  std::vector<double> host_;
  HessenbergLeastSquares least_squares_;
  Monitor monitor_;
};

}  // namespace

const DeviceMethod device_gmres{
    .name = "gmres",
    .solve = [](const DeviceSystem& system, Vector x, const MethodOptions& options,
                const Progress& progress) { return DeviceGmres(system, x, options, progress).solve(); },
    .steps = 20,
    .waits = true};

}  // namespace ayatori::solvers
