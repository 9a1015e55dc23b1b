#include "ayatori/sparse/kernels/dia.hpp"

#include <array>
#include <atomic>

#include "ayatori/base/parallel.hpp"
#include "ayatori/sparse/kernels/kernels.hpp"
#include "ayatori/sparse/kernels/padding.hpp"
#include "ayatori/sparse/kernels/thread_groups.hpp"

namespace ayatori::sparse {

namespace {

constexpr std::string_view name = "dia";

/// Rows multiplied along all diagonals before the next: their sums stay in registers.
constexpr std::int64_t block_rows = 32;

std::int64_t blocks_of(std::int64_t rows) {
  return (rows + block_rows - 1) / block_rows;
}

std::int64_t bytes_of(std::int64_t rows, std::int64_t diagonals, std::int64_t elements) {
  return 8 * elements + 4 * diagonals + 8 * (blocks_of(rows) + 1);
}

/// Offsets (column - row) of the diagonals that hold an entry.
std::vector<std::int32_t> offsets_of(const Csr& matrix) {
  const std::int64_t rows = matrix.rows;
  Array<unsigned char> holds_entry(rows + matrix.columns, 0);
  parallel_for(rows, [&](std::int64_t i) {
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const std::atomic_ref mark(holds_entry[matrix.column[k] - i + rows]);
      // A mark is written once only: threads that write all the time would take the line from each other.
      if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
    }
  });
  std::vector<std::int32_t> offsets;
  for (std::int64_t d = 0; d < rows + matrix.columns; ++d) {
    if (holds_entry[d] != 0) offsets.push_back(static_cast<std::int32_t>(d - rows));
  }
  return offsets;
}

/// Diagonals that hold an entry, with all their places. Blocks of rows are multiplied diagonal by diagonal,
/// and are stored in that order. Traffic: 8 bytes per place (4 in single
/// precision), 1/4 per row.
template <class Real>
class Dia final : public KernelOf<Real> {
 public:
  Dia(const Csr& matrix, double scale, Simd simd)
      : simd_(simd), rows_(matrix.rows), columns_(matrix.columns), offset_(offsets_of(matrix)) {
    std::int64_t places = 0;
    for (const std::int32_t offset : offset_) places += segment({0, rows_}, offset).size();
    require_bytes(name, bytes_of(rows_, static_cast<std::int64_t>(offset_.size()), places), matrix);
    if (!offset_.empty()) crossed_by_all_ = {-offset_.front(), columns_ - offset_.back()};

    std::vector<std::int64_t> counts(blocks_of(rows_), 0);
    parallel_for(static_cast<std::int64_t>(counts.size()), [&](std::int64_t b) {
      for (const std::int32_t offset : offset_) counts[b] += segment(rows_of(b), offset).size();
    });
    block_start_ = starts_of(counts);
    groups_ = ThreadGroups(block_start_);
    value_ = Array<Real>(places);
    groups_.for_each([&](int, Range of_group) {
      for (std::int64_t b = of_group.begin; b < of_group.end; ++b) fill(matrix, scale, b);
    });
  }

  void multiply(std::span<const Real> x, std::span<Real> y) const override {
    groups_.for_each([&](int, Range blocks) {
      with_simd(
          simd_, [&]<int Width>() __attribute__((always_inline)) {
            multiply_padded(
                blocks, 1,
                [&](Range block) __attribute__((always_inline)) {
                  return multiply_block<width_of<Real, Width, block_rows>>(block.begin, x.data(), y.data());
                },
                [&](Range block) { multiply_block_carefully(block.begin, x.data(), y.data()); });
          });
    });
  }

  std::int64_t matrix_bytes() const override {
    return static_cast<std::int64_t>(sizeof(Real) * value_.size() + 4 * offset_.size() +
                                     8 * block_start_.size());
  }

 private:
  Range rows_of(std::int64_t block) const {
    return {block * block_rows, std::min(rows_, (block + 1) * block_rows)};
  }

  /// Those of these rows that a diagonal crosses.
  Range segment(Range rows, std::int64_t offset) const {
    const std::int64_t begin = std::clamp(-offset, rows.begin, rows.end);
    return {begin, std::clamp(columns_ - offset, begin, rows.end)};
  }

  /// Calls f(number of its first place, its rows, offset) for every diagonal of a block.
  template <class F>
  void for_each_segment(std::int64_t block, const F& f) const {
    std::int64_t place = block_start_[block];
    for (const std::int32_t offset : offset_) {
      const Range rows = segment(rows_of(block), offset);
      f(place, rows, offset);
      place += rows.size();
    }
  }

  void fill(const Csr& matrix, double scale, std::int64_t block) {
    const Range rows = rows_of(block);
    std::array<std::int64_t, block_rows> next;  // entry of each row: offsets ascend as columns do
    for (std::int64_t i = rows.begin; i < rows.end; ++i) next[i - rows.begin] = matrix.row_start[i];
    for_each_segment(block, [&](std::int64_t place, Range crossed, std::int64_t offset) {
      for (std::int64_t i = crossed.begin; i < crossed.end; ++i) {
        std::int64_t& k = next[i - rows.begin];
        const bool stored = k < matrix.row_start[i + 1] && matrix.column[k] == i + offset;
        value_[place++] = stored ? static_cast<Real>(scale * matrix.value[k++]) : 0;
      }
    });
  }

  /// Returns the sum of 0 y_i over the rows of the block.
  template <int Width>
  [[gnu::always_inline]] Real multiply_block(std::int64_t block, const Real* x, Real* y) const {
    const Range rows = rows_of(block);
    if (rows.size() < block_rows || rows.begin < crossed_by_all_.begin || crossed_by_all_.end < rows.end)
      return multiply_end_block(block, x, y);
    constexpr std::int64_t parts = block_rows / Width;
    Vector<Width, Real> sum[parts] = {};
    const Real* value = value_.data() + block_start_[block];
    for (const std::int32_t offset : offset_) {
      const Real* u = x + rows.begin + offset;
      for (std::int64_t p = 0; p < parts; ++p)
        sum[p] += load<Width>(value + p * Width) * load<Width>(u + p * Width);
      value += block_rows;
    }
    Vector<Width, Real> finite{};
    for (std::int64_t p = 0; p < parts; ++p) {
      finite += Real(0) * sum[p];
      store<Width>(y + rows.begin + p * Width, sum[p]);
    }
    return total<Width, Real>(finite);
  }

  /// The same for a block that not all diagonals cross.
  Real multiply_end_block(std::int64_t block, const Real* x, Real* y) const {
    const Range rows = rows_of(block);
    std::fill(y + rows.begin, y + rows.end, Real(0));
    for_each_segment(block, [&](std::int64_t place, Range crossed, std::int64_t offset) {
      for (std::int64_t i = crossed.begin; i < crossed.end; ++i) y[i] += value_[place++] * x[i + offset];
    });
    Real finite = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) finite += Real(0) * y[i];
    return finite;
  }

  void multiply_block_carefully(std::int64_t block, const Real* x, Real* y) const {
    const Range rows = rows_of(block);
    std::fill(y + rows.begin, y + rows.end, Real(0));
    for_each_segment(block, [&](std::int64_t place, Range crossed, std::int64_t offset) {
      for (std::int64_t i = crossed.begin; i < crossed.end; ++i)
        y[i] += product_unless_zero(value_[place++], x[i + offset]);
    });
  }

  Simd simd_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::vector<std::int32_t> offset_;       // ascending
  Range crossed_by_all_;                   // rows that every diagonal crosses
  std::vector<std::int64_t> block_start_;  // first place of each block of rows
  ThreadGroups groups_;                    // groups of blocks
  Array<Real> value_;
};

}  // namespace

std::unique_ptr<Kernel> make_dia(const Csr& matrix, Simd simd) {
  return std::make_unique<Dia<double>>(matrix, 1, simd);
}

std::unique_ptr<FloatKernel> make_float_dia(const Csr& matrix, double scale, Simd simd) {
  return std::make_unique<Dia<float>>(matrix, scale, simd);
}

const KernelType dia_kernel{
    .name = name,
    .description = "diagonals, explicit zeros included",
    .conversion_products = 8,
    .predicted_bytes =
        [](const PatternFacts& facts) {
          return if_not_absurd(bytes_of(facts.rows, facts.diagonals, facts.diagonal_elements), facts);
        },
    .indexed_accesses = [](const PatternFacts&) { return 0.0; },
    .make = [](const Csr& matrix) { return make_dia(matrix, best_simd()); },
    .make_float = [](const Csr& matrix, double scale) { return make_float_dia(matrix, scale, best_simd()); }};

}  // namespace ayatori::sparse
