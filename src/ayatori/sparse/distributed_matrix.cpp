#include "ayatori/sparse/distributed_matrix.hpp"

#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/kernels/row_product.hpp"

namespace ayatori::sparse {

namespace {

/// y[rows] += (halo part) ghosts. Traffic: 12 bytes per nonzero, 28 per row of the halo part.
void add_halo_rows(const SplitMatrix& parts, const RowOrder& order, std::span<const double> ghosts,
                   std::span<double> y) {
  const Csr& halo = parts.halo;
  parallel_ranges(halo.rows, [&](Range places) {
    order.for_each(places, [&](std::int64_t r) {
      y[parts.halo_rows[r]] += row_product_in_vectors(
          halo.value.data(), halo.column.data(), halo.row_start[r], halo.row_start[r + 1], ghosts.data());
    });
  });
}

bool same_pattern(const Csr& a, const Csr& b) {
  return a.row_start == b.row_start && a.column == b.column;
}

}  // namespace

bool same_pattern(const SplitMatrix& a, const SplitMatrix& b) {
  return a.partition == b.partition && same_pattern(a.interior, b.interior) && same_pattern(a.halo, b.halo) &&
         a.halo_rows == b.halo_rows;
}

DistributedMatrix::DistributedMatrix(comm::Comm comm, std::shared_ptr<const SplitMatrix> parts,
                                     const ProductOptions& options)
    : comm_(std::move(comm)), parts_(std::move(parts)) {
  comm::agree(comm_, [&] {
    halo_strategy(options.halo);
    halo_order_ = RowOrder(parts_->halo.row_start);
  });
  use(options);
}

DistributedMatrix::DistributedMatrix(const comm::Comm& comm, const RowBlock& block,
                                     const ProductOptions& options)
    : DistributedMatrix(comm, std::make_shared<const SplitMatrix>(split(comm, block)), options) {}

void DistributedMatrix::use(const ProductOptions& options) {
  const HaloChoice choice = halo_strategy(options.halo);
  const std::string halo(choice.type->name);
  if (!kernels_.contains(options.kernel)) {
    auto built = comm::agree(comm_, [&] { return store(kernel(options.kernel)); });
    kernels_.emplace(options.kernel, std::move(built));
  }
  if (!exchanges_.contains(halo))
    exchanges_.emplace(halo, choice.type->make(comm_, parts_->partition, parts_->plan));
  options_ = options;
  kernel_ = &kernels_.at(options.kernel);
  exchange_ = exchanges_.at(halo).get();
  overlap_ = choice.overlap;
}

DistributedMatrix::Stored DistributedMatrix::store(const KernelType& type) {
  Stored stored{type.make(parts_->interior), nullptr};
  const Csr& halo = parts_->halo;
  stored.halo = make_halo_kernel(type, halo, halo_facts_);
  if (stored.halo && halo_sums_.empty()) halo_sums_.resize(halo.rows);
  return stored;
}

void DistributedMatrix::forget_unused() {
  std::erase_if(kernels_, [&](const auto& entry) { return &entry.second != kernel_; });
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
  kernel_->interior->multiply(x, y);
  if (overlap_) {
    const ScopedTimer halo(seconds_.halo);
    ghosts = exchange_->finish();
  }
  add_halo(ghosts, y);
}

void DistributedMatrix::add_halo_product(std::span<const double> x, std::span<double> y) const {
  if (comm_.size() == 1) return;
  const ScopedTimer total(seconds_.total);
  std::span<const double> ghosts;
  {
    const ScopedTimer halo(seconds_.halo);
    exchange_->begin(x);
    ghosts = exchange_->finish();
  }
  add_halo(ghosts, y);
}

void DistributedMatrix::add_halo(std::span<const double> ghosts, std::span<double> y) const {
  if (!kernel_->halo) return add_halo_rows(*parts_, halo_order_, ghosts, y);
  kernel_->halo->multiply(ghosts, halo_sums_);
  const auto& rows = parts_->halo_rows;
  parallel_for(parts_->halo.rows, [&](std::int64_t r) { y[rows[r]] += halo_sums_[r]; });
}

std::int64_t DistributedMatrix::matrix_bytes() const {
  const Csr& halo = parts_->halo;
  const std::int64_t numbers = std::int64_t{4} * halo.rows;
  if (kernel_->halo) return kernel_->interior->matrix_bytes() + kernel_->halo->matrix_bytes() + numbers;
  return kernel_->interior->matrix_bytes() + 12 * halo.nonzeros() + std::int64_t{8} * halo.rows + numbers +
         halo_order_.bytes();
}

void multiply_reference(const comm::Comm& comm, const SplitMatrix& parts, std::span<const double> x,
                        std::span<double> y) {
  const auto exchange = halo_strategies().front().make(comm, parts.partition, parts.plan);
  exchange->begin(x);
  const auto ghosts = exchange->finish();
  multiply_reference(parts.interior, x, y);
  add_halo_rows(parts, RowOrder(), ghosts, y);
}

}  // namespace ayatori::sparse
