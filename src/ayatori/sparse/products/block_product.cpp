#include "ayatori/sparse/products/block_product.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::sparse {

namespace {

/// y += the row [k, end) of A times the block X.
template <int Width>
[[gnu::always_inline]] inline void add_row(const Csr& a, std::int64_t k, std::int64_t end, const double* x,
                                           double* y) {
  double sums[Width] = {};
  for (; k < end; ++k) {
    const double value = a.value[k];
    const double* element = x + std::int64_t{a.column[k]} * Width;
#pragma omp simd
    for (int c = 0; c < Width; ++c) sums[c] += value * element[c];
  }
  for (int c = 0; c < Width; ++c) y[c] += sums[c];
}

template <int Width>
void multiply_interior(const Csr& a, const double* x, double* y) {
  parallel_for(a.rows, [&](std::int64_t i) {
    double* out = y + i * Width;
    for (int c = 0; c < Width; ++c) out[c] = 0;
    add_row<Width>(a, a.row_start[i], a.row_start[i + 1], x, out);
  });
}

template <int Width>
void add_halo(const SplitMatrix& parts, const double* ghosts, double* y) {
  const Csr& halo = parts.halo;
  parallel_for(halo.rows, [&](std::int64_t r) {
    add_row<Width>(halo, halo.row_start[r], halo.row_start[r + 1], ghosts,
                   y + std::int64_t{parts.halo_rows[r]} * Width);
  });
}

RowPartition widened(const RowPartition& partition, int width) {
  std::vector<std::int64_t> starts = partition.starts();
  for (auto& start : starts) start *= width;
  return RowPartition(std::move(starts));
}

/// The plan of a vector whose elements are the elements of all vectors of a block.
HaloPlan widened(const HaloPlan& plan, int width) {
  const auto most = std::numeric_limits<std::int32_t>::max() / width;
  if (plan.local_size > most || static_cast<std::int64_t>(plan.ghosts.size()) > most)
    throw EnvironmentError(fmt::format("{} vectors at once have 2^31 elements or more on a rank", width));
  HaloPlan wide;
  wide.local_size = plan.local_size * width;
  wide.ghosts.reserve(plan.ghosts.size() * width);
  for (const std::int64_t ghost : plan.ghosts)
    for (int c = 0; c < width; ++c) wide.ghosts.push_back(ghost * width + c);
  wide.send_index.reserve(plan.send_index.size() * width);
  for (const std::int32_t index : plan.send_index)
    for (int c = 0; c < width; ++c) wide.send_index.push_back(index * width + c);
  const auto widen = [&](const std::vector<HaloPlan::Neighbour>& neighbours) {
    auto result = neighbours;
    for (auto& neighbour : result) {
      neighbour.begin *= width;
      neighbour.end *= width;
    }
    return result;
  };
  wide.receive_from = widen(plan.receive_from);
  wide.send_to = widen(plan.send_to);
  return wide;
}

}  // namespace

BlockProduct::BlockProduct(const DistributedMatrix& matrix, int width)
    : parts_(matrix.shared_parts()),
      partition_(widened(parts_->partition, width)),
      plan_(comm::agree(matrix.comm(), [&] { return widened(parts_->plan, width); })),
      width_(width) {
  AYATORI_ASSERT(1 <= width && width <= max_block_width);
  const HaloChoice choice = halo_strategy(matrix.options().halo);
  exchange_ = choice.type->make(matrix.comm(), partition_, plan_);
  overlap_ = choice.overlap;
}

void BlockProduct::apply_block(std::span<const double> x, std::span<double> y,
                               [[maybe_unused]] int width) const {
  AYATORI_ASSERT(width == width_ && static_cast<std::int32_t>(x.size()) == plan_.local_size);
  AYATORI_ASSERT(x.size() == y.size());
  ++count_;
  exchange_->begin(x);
  std::span<const double> ghosts;
  if (!overlap_) ghosts = exchange_->finish();
  with_width(width_, [&](auto w) { multiply_interior<w()>(parts_->interior, x.data(), y.data()); });
  if (overlap_) ghosts = exchange_->finish();
  with_width(width_, [&](auto w) { add_halo<w()>(*parts_, ghosts.data(), y.data()); });
}

std::int64_t block_product_bytes(const SplitMatrix& parts, int width) {
  const std::int64_t rows = parts.interior.rows;
  return 12 * (parts.interior.nonzeros() + parts.halo.nonzeros()) + (8 + std::int64_t{24} * width) * rows;
}

}  // namespace ayatori::sparse
