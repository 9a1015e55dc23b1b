#include "ayatori/sparse/distributed_matrix.hpp"

#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/kernels/row_product.hpp"

namespace ayatori::sparse {

namespace {

/// y[rows] += (halo part) ghosts. Traffic: 12 bytes per nonzero, 16 per row of the halo part.
void add_halo(const SplitMatrix& parts, std::span<const double> ghosts, std::span<double> y) {
  const Csr& halo = parts.halo;
  parallel_for(halo.rows, [&](std::int64_t r) {
    y[parts.halo_rows[r]] += row_product<8>(halo.value.data(), halo.column.data(), halo.row_start[r],
                                            halo.row_start[r + 1], ghosts.data());
  });
}

}  // namespace

DistributedMatrix::DistributedMatrix(comm::Comm comm, std::shared_ptr<const SplitMatrix> parts,
                                     const ProductOptions& options)
    : comm_(std::move(comm)), parts_(std::move(parts)) {
  comm::agree(comm_, [&] { return halo_strategy(options.halo); });
  use(options);
}

DistributedMatrix::DistributedMatrix(const comm::Comm& comm, const RowBlock& block,
                                     const ProductOptions& options)
    : DistributedMatrix(comm, std::make_shared<const SplitMatrix>(split(comm, block)), options) {}

void DistributedMatrix::use(const ProductOptions& options) {
  const HaloChoice choice = halo_strategy(options.halo);
  const std::string halo(choice.type->name);
  if (!kernels_.contains(options.kernel)) {
    auto built = comm::agree(comm_, [&] { return kernel(options.kernel).make(parts_->interior); });
    kernels_.emplace(options.kernel, std::move(built));
  }
  if (!exchanges_.contains(halo))
    exchanges_.emplace(halo, choice.type->make(comm_, parts_->partition, parts_->plan));
  options_ = options;
  kernel_ = kernels_.at(options.kernel).get();
  exchange_ = exchanges_.at(halo).get();
  overlap_ = choice.overlap;
}

void DistributedMatrix::forget_unused() {
  std::erase_if(kernels_, [&](const auto& entry) { return entry.second.get() != kernel_; });
  std::erase_if(exchanges_, [&](const auto& entry) { return entry.second.get() != exchange_; });
}

void DistributedMatrix::apply(std::span<const double> x, std::span<double> y) const {
  AYATORI_ASSERT(static_cast<std::int32_t>(x.size()) == local_size() && x.size() == y.size());
  if (observer_ != nullptr) observer_->before_product();
  multiply(x, y);
  if (observer_ != nullptr) observer_->after_product();
}

void DistributedMatrix::multiply(std::span<const double> x, std::span<double> y) const {
  const ScopedTimer total(seconds_.total);
  std::span<const double> ghosts;
  {
    const ScopedTimer halo(seconds_.halo);
    exchange_->begin(x);
    if (!overlap_) ghosts = exchange_->finish();
  }
  kernel_->multiply(x, y);
  if (overlap_) {
    const ScopedTimer halo(seconds_.halo);
    ghosts = exchange_->finish();
  }
  add_halo(*parts_, ghosts, y);
}

std::int64_t DistributedMatrix::matrix_bytes() const {
  return kernel_->matrix_bytes() + 12 * parts_->halo.nonzeros() + std::int64_t{12} * parts_->halo.rows;
}

void multiply_reference(const comm::Comm& comm, const SplitMatrix& parts, std::span<const double> x,
                        std::span<double> y) {
  const auto exchange = halo_strategies().front().make(comm, parts.partition, parts.plan);
  exchange->begin(x);
  const auto ghosts = exchange->finish();
  multiply_reference(parts.interior, x, y);
  add_halo(parts, ghosts, y);
}

}  // namespace ayatori::sparse
