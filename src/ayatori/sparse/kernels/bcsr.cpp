#include <bit>

#include "ayatori/base/parallel.hpp"
#include "ayatori/sparse/kernels/kernels.hpp"
#include "ayatori/sparse/kernels/merge_rows.hpp"
#include "ayatori/sparse/kernels/padding.hpp"
#include "ayatori/sparse/kernels/simd.hpp"
#include "ayatori/sparse/kernels/thread_groups.hpp"

namespace ayatori::sparse {

namespace {

template <int Size>
constexpr std::string_view name = "";
template <>
constexpr std::string_view name<2> = "bcsr-2x2";
template <>
constexpr std::string_view name<3> = "bcsr-3x3";
template <>
constexpr std::string_view name<4> = "bcsr-4x4";

template <int Size>
std::int64_t block_rows_of(std::int64_t rows) {
  return (rows + Size - 1) / Size;
}

template <int Size>
std::int64_t bytes_of(std::int64_t rows, std::int64_t blocks) {
  return 8 * (block_rows_of<Size>(rows) + 1) + (8 * Size * Size + 4) * blocks;
}

/// Where each row of blocks begins among the blocks.
template <int Size>
std::vector<std::int64_t> starts_of_blocks(const Csr& matrix) {
  std::vector<std::int64_t> counts(block_rows_of<Size>(matrix.rows), 0);
  parallel_for(static_cast<std::int64_t>(counts.size()), [&](std::int64_t i) {
    for_each_block<Size>(matrix, i * Size, [&](auto&&...) { ++counts[i]; });
  });
  return starts_of(counts);
}

/// Aligned Size x Size blocks that hold an entry, dense, column by column; compressed sparse rows of them. A
/// block that would leave the matrix on the right begins so much further left. Traffic: 8 Size^2 + 4 bytes
/// (in single precision 4 Size^2 + 4) per block, 8 per row of blocks.
template <int Size, class Real>
class BlockCsr final : public KernelOf<Real> {
 public:
  BlockCsr(const Csr& matrix, double scale, const std::vector<std::int64_t>& start)
      : rows_(matrix.rows),
        groups_(start),
        start_(start.size()),
        column_(start.back()),
        value_(start.back() * Size * Size + (column_lanes - Size)) {
    start_[0] = 0;
    std::fill(value_.begin() + start.back() * Size * Size, value_.end(), Real(0));
    groups_.for_each([&](int, Range block_rows) {
      for (std::int64_t i = block_rows.begin; i < block_rows.end; ++i) {
        start_[i + 1] = start[i + 1];
        fill(matrix, scale, i, start[i]);
      }
    });
  }

  void multiply(std::span<const Real> x, std::span<Real> y) const override {
    constexpr std::int64_t block_rows_at_once = 256;  // their piece of y stays in the first cache
    groups_.for_each([&](int, Range block_rows) {
      with_simd(
          best_simd(), [&]<int Width>() __attribute__((always_inline)) {
            multiply_padded(
                block_rows, block_rows_at_once,
                [&](Range part)
                    __attribute__((always_inline)) { return multiply_rows(part, x.data(), y.data()); },
                [&](Range part) { multiply_rows_carefully(part, x.data(), y.data()); });
          });
    });
  }

  std::int64_t matrix_bytes() const override {
    return static_cast<std::int64_t>(8 * start_.size() + 4 * column_.size() +
                                     sizeof(Real) * Size * Size * column_.size());
  }

 private:
  /// A column of a block in a register: of three, the next element is beside them, and is of no use.
  static constexpr int column_lanes = std::bit_ceil(static_cast<unsigned>(Size));

  void fill(const Csr& matrix, double scale, std::int64_t block_row, std::int64_t block) {
    for_each_block<Size>(matrix, block_row * Size, [&](std::int64_t j, std::span<const RowEntry> entries) {
      const std::int32_t first = std::min(static_cast<std::int32_t>(j * Size), matrix.columns - Size);
      Real* values = &value_[block * Size * Size];
      std::fill_n(values, Size * Size, Real(0));
      for (const RowEntry& e : entries)
        values[(matrix.column[e.position] - first) * Size + e.lane] =
            static_cast<Real>(scale * matrix.value[e.position]);
      column_[block++] = first;
    });
  }

  /// Returns the sum of 0 y_i over these rows. A sum for every column of a block: none waits for another.
  [[gnu::always_inline]] Real multiply_rows(Range block_rows, const Real* x, Real* y) const {
    Real finite = 0;
    std::int64_t b = start_[block_rows.begin];
    for (std::int64_t i = block_rows.begin; i < block_rows.end; ++i) {
      Vector<column_lanes, Real> sums[Size] = {};
      for (const std::int64_t end = start_[i + 1]; b < end; ++b) {
        const Real* value = value_.data() + b * Size * Size;
        const Real* xb = x + column_[b];
#pragma GCC unroll 4
        for (int c = 0; c < Size; ++c) sums[c] += load<column_lanes>(value + c * Size) * xb[c];
      }
      for (int c = 1; c < Size; ++c) sums[0] += sums[c];
      const std::int64_t count = std::min<std::int64_t>(Size, rows_ - i * Size);
      for (std::int64_t r = 0; r < count; ++r) {
        y[i * Size + r] = sums[0][r];
        finite += Real(0) * sums[0][r];
      }
    }
    return finite;
  }

  void multiply_rows_carefully(Range block_rows, const Real* x, Real* y) const {
    const std::int64_t end = std::min(rows_, block_rows.end * Size);
    for (std::int64_t i = block_rows.begin * Size; i < end; ++i) {
      Real sum = 0;
      for (std::int64_t b = start_[i / Size]; b < start_[i / Size + 1]; ++b) {
        for (int c = 0; c < Size; ++c)
          sum += product_unless_zero(value_[(b * Size + c) * Size + i % Size], x[column_[b] + c]);
      }
      y[i] = sum;
    }
  }

  std::int64_t rows_;
  ThreadGroups groups_;  // groups of block rows
  Array<std::int64_t> start_;
  Array<std::int32_t> column_;  // first of each block
  Array<Real> value_;           // and what the last column of three is loaded with
};

template <int Size>
std::optional<std::int64_t> predicted_bytes(const PatternFacts& facts) {
  if (facts.columns < Size) return std::nullopt;
  return if_not_absurd(bytes_of<Size>(facts.rows, facts.blocks[Size - 2]), facts);
}

/// A block finds its elements of x by one column.
template <int Size>
double indexed_accesses(const PatternFacts& facts) {
  return static_cast<double>(Size * facts.blocks[Size - 2]);
}

template <int Size, class Real>
std::unique_ptr<KernelOf<Real>> make(const Csr& matrix, double scale) {
  if (matrix.columns < Size)
    cannot_hold(name<Size>, fmt::format("it has {} columns, fewer than a block", matrix.columns));
  const auto start = starts_of_blocks<Size>(matrix);
  require_bytes(name<Size>, bytes_of<Size>(matrix.rows, start.back()), matrix);
  return std::make_unique<BlockCsr<Size, Real>>(matrix, scale, start);
}

template <int Size>
constexpr KernelType type(std::string_view description) {
  return {.name = name<Size>,
          .description = description,
          .conversion_products = 10,
          .predicted_bytes = predicted_bytes<Size>,
          .indexed_accesses = indexed_accesses<Size>,
          .make = [](const Csr& matrix) { return make<Size, double>(matrix, 1); },
          .make_float = make<Size, float>};
}

}  // namespace

const KernelType bcsr2_kernel = type<2>("dense 2 x 2 blocks");
const KernelType bcsr3_kernel = type<3>("dense 3 x 3 blocks");
const KernelType bcsr4_kernel = type<4>("dense 4 x 4 blocks");

}  // namespace ayatori::sparse
