#include "ayatori/tuning/run/device_place.hpp"

#include <string_view>

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/device/device_method.hpp"

namespace ayatori::tuning {

namespace {

/// A step with its work, its sums and its way to the memory, against one that does nothing: measured on small
/// systems, docs/measured/gpu.md.
constexpr double step_with_work = 4;
/// Passes over the matrix before it is there: its format is found out and laid out, and it travels.
constexpr double passes_to_carry = 10;

}  // namespace

const solvers::DeviceMatrix& DevicePlace::matrix(const std::shared_ptr<sparse::DistributedMatrix>& matrix) {
  if (matrix_) return *matrix_;
  const comm::Comm& comm = matrix->comm();
  if (!device_) {
    // Ranks of a node share devices in turn, as far as there are any.
    const int number = comm.split_by_node().rank();
    device_ = comm::agree(comm, [&] { return gpu::device_type(kind_).open(number); });
  }
  from_ = matrix;
  matrix_.emplace(*device_, *matrix);
  return *matrix_;
}

Elsewhere DevicePlace::price(const Choice& choice, const MatrixFacts& facts, double unit) const {
  if (!figures_) return {};
  const auto rows = static_cast<double>(facts.rows);
  const double matrix_bytes = 12 * static_cast<double>(facts.nonzeros);
  const double product = (matrix_bytes + 24 * rows) / figures_->copy;
  const auto& method = *solvers::find_device_method(choice.method);
  const auto& preconditioner = *solvers::find_device_preconditioner(choice.preconditioner);
  double each = (method.steps + preconditioner.steps) * step_with_work * figures_->step;
  if (method.waits) each += figures_->wait;
  double carried = (device_ ? 0 : figures_->open_seconds) + 4 * 8 * rows / figures_->in;
  const double matrices = (matrix_ ? 0 : 1) + preconditioner.matrices;
  carried += matrices * passes_to_carry * matrix_bytes / figures_->in;
  return {.carried = carried / unit, .pace = product / unit, .each = each / unit};
}

}  // namespace ayatori::tuning
