#include "ayatori/solvers/device/device_matrix.hpp"

#include <algorithm>

#include "ayatori/comm/agree.hpp"

namespace ayatori::solvers {

namespace {

/// Interior and halo part in one: ghosts are the columns behind those of the interior.
sparse::Csr join(const sparse::SplitMatrix& parts) {
  const sparse::Csr& inner = parts.interior;
  const sparse::Csr& outer = parts.halo;
  sparse::Csr all;
  all.rows = inner.rows;
  all.columns = inner.columns + static_cast<std::int32_t>(parts.plan.ghosts.size());
  all.row_start.assign(std::size_t(all.rows) + 1, 0);
  all.column.resize(inner.column.size() + outer.column.size());
  all.value.resize(all.column.size());
  std::int64_t end = 0;
  std::int32_t next = 0;  // row of the halo part
  for (std::int32_t i = 0; i < all.rows; ++i) {
    const auto append = [&](const sparse::Csr& part, std::int32_t row, std::int32_t first_column) {
      for (std::int64_t k = part.row_start[row]; k < part.row_start[row + 1]; ++k, ++end) {
        all.column[end] = part.column[k] + first_column;
        all.value[end] = part.value[k];
      }
    };
    append(inner, i, 0);
    if (next < outer.rows && parts.halo_rows[next] == i) append(outer, next++, inner.columns);
    all.row_start[i + 1] = end;
  }
  return all;
}

}  // namespace

DeviceMatrix::DeviceMatrix(gpu::Device& device, const sparse::DistributedMatrix& matrix)
    : device_(&device), matrix_(&matrix), local_size_(matrix.local_size()) {
  const sparse::SplitMatrix& parts = matrix.parts();
  vector_size_ = std::int64_t{local_size_} + static_cast<std::int64_t>(parts.plan.ghosts.size());
  comm::agree(matrix.comm(), [&] {
    stored_ = parts.plan.ghosts.empty() ? gpu::make_matrix<double>(device, parts.interior)
                                        : gpu::make_matrix<double>(device, join(parts));
    send_index_ = {device, std::span<const std::int32_t>(parts.plan.send_index)};
    packed_ = {device, parts.plan.send_index.size()};
    sent_.resize(parts.plan.send_index.size());
    exchange_.emplace(matrix.comm(), parts.plan, 1, vector_size_, local_size_);
  });
}

void DeviceMatrix::multiply(double* x, const gpu::ProductStep<double>& step) const {
  fetch_ghosts(x);
  stored_.multiply(x, step);
}

void DeviceMatrix::fetch_ghosts(double* x) const {
  const sparse::HaloPlan& plan = matrix_->parts().plan;
  if (plan.send_to.empty() && plan.receive_from.empty()) return;
  device_->run(gpu::Gather{send_index_.data(), x, packed_.data()}, static_cast<std::int32_t>(sent_.size()));
  packed_.copy_out(sent_);
  const auto ghosts = exchange_->exchange(sent_);
  device_->copy_in(x + local_size_, ghosts.data(), ghosts.size_bytes());
}

}  // namespace ayatori::solvers
