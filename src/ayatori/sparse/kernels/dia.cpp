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

/// Rows multiplied along all diagonals before the next: their piece of y stays in the first cache.
constexpr std::int64_t block_rows = 1024;

std::int64_t bytes_of(std::int64_t diagonals, std::int64_t elements) {
  return 8 * elements + 4 * diagonals;
}

/// Offsets (column - row) of the diagonals that hold an entry.
std::vector<std::int32_t> offsets_of(const Csr& matrix) {
  const std::int64_t rows = matrix.rows;
  Array<unsigned char> holds_entry(rows + matrix.columns, 0);
  parallel_for(rows, [&](std::int64_t i) {
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
      std::atomic_ref(holds_entry[matrix.column[k] - i + rows]).store(1, std::memory_order_relaxed);
  });
  std::vector<std::int32_t> offsets;
  for (std::int64_t d = 0; d < rows + matrix.columns; ++d) {
    if (holds_entry[d] != 0) offsets.push_back(static_cast<std::int32_t>(d - rows));
  }
  return offsets;
}

/// Diagonals that hold an entry, with all their places. Blocks of rows are multiplied diagonal by diagonal,
/// and are stored in that order. Traffic: 8 bytes per place.
class Dia final : public Kernel {
 public:
  Dia(const Csr& matrix, Simd simd)
      : simd_(simd), rows_(matrix.rows), columns_(matrix.columns), offset_(offsets_of(matrix)) {
    std::int64_t places = 0;
    for (const std::int32_t offset : offset_) places += segment({0, rows_}, offset).size();
    require_bytes(name, bytes_of(static_cast<std::int64_t>(offset_.size()), places), matrix);

    const std::int64_t blocks = (rows_ + block_rows - 1) / block_rows;
    std::vector<std::int64_t> counts(blocks, 0);
    parallel_for(blocks, [&](std::int64_t b) {
      for (const std::int32_t offset : offset_) counts[b] += segment(rows_of(b), offset).size();
    });
    block_start_ = starts_of(counts);
    groups_ = ThreadGroups(block_start_);
    value_ = Array<double>(places);
    groups_.for_each([&](int, Range of_group) {
      for (std::int64_t b = of_group.begin; b < of_group.end; ++b) fill(matrix, b);
    });
  }

  void multiply(std::span<const double> x, std::span<double> y) const override {
    groups_.for_each([&](int, Range blocks) {
      with_simd(
          simd_, [&]<int Width>() __attribute__((always_inline)) {
            multiply_padded(
                blocks, 1,
                [&](Range block) __attribute__((always_inline)) {
                  return multiply_block<Width>(block.begin, x.data(), y.data());
                },
                [&](Range block) { multiply_block_carefully(block.begin, x.data(), y.data()); });
          });
    });
  }

  std::int64_t matrix_bytes() const override {
    return static_cast<std::int64_t>(8 * value_.size() + 4 * offset_.size());
  }

 private:
  Range rows_of(std::int64_t block) const {
    return {block * block_rows, std::min(rows_, (block + 1) * block_rows)};
  }

  /// Of these rows, those that a diagonal crosses.
  Range segment(Range rows, std::int64_t offset) const {
    const std::int64_t begin = std::clamp(-offset, rows.begin, rows.end);
    return {begin, std::clamp(columns_ - offset, begin, rows.end)};
  }

  /// Calls f(number of its first place, its rows, offset) for every diagonal of a block.
  template <class F>
  [[gnu::always_inline]] void for_each_segment(std::int64_t block, const F& f) const {
    std::int64_t place = block_start_[block];
    for (const std::int32_t offset : offset_) {
      const Range rows = segment(rows_of(block), offset);
      f(place, rows, offset);
      place += rows.size();
    }
  }

  void fill(const Csr& matrix, std::int64_t block) {
    const Range rows = rows_of(block);
    std::array<std::int64_t, block_rows> next;  // entry of each row: offsets ascend as columns do
    for (std::int64_t i = rows.begin; i < rows.end; ++i) next[i - rows.begin] = matrix.row_start[i];
    for_each_segment(block, [&](std::int64_t place, Range crossed, std::int64_t offset) {
      for (std::int64_t i = crossed.begin; i < crossed.end; ++i) {
        std::int64_t& k = next[i - rows.begin];
        const bool stored = k < matrix.row_start[i + 1] && matrix.column[k] == i + offset;
        value_[place++] = stored ? matrix.value[k++] : 0;
      }
    });
  }

  /// Returns the sum of 0 y_i over the rows of the block.
  template <int Width>
  [[gnu::always_inline]] double multiply_block(std::int64_t block, const double* x, double* y) const {
    const Range rows = rows_of(block);
    std::fill(y + rows.begin, y + rows.end, 0.0);
    for_each_segment(
        block, [&](std::int64_t place, Range crossed, std::int64_t offset) __attribute__((always_inline)) {
          const double* value = value_.data() + place - crossed.begin;
          std::int64_t i = crossed.begin;
          for (; i + Width <= crossed.end; i += Width) {
            Vector<Width> v;
            Vector<Width> u;
            Vector<Width> sum;
            load<Width>(v, value + i);
            load<Width>(u, x + i + offset);
            load<Width>(sum, y + i);
            sum += v * u;
            store<Width>(y + i, sum);
          }
          for (; i < crossed.end; ++i) y[i] += value[i] * x[i + offset];
        });
    double finite = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) finite += 0 * y[i];
    return finite;
  }

  void multiply_block_carefully(std::int64_t block, const double* x, double* y) const {
    const Range rows = rows_of(block);
    std::fill(y + rows.begin, y + rows.end, 0.0);
    for_each_segment(block, [&](std::int64_t place, Range crossed, std::int64_t offset) {
      for (std::int64_t i = crossed.begin; i < crossed.end; ++i)
        y[i] += product_unless_zero(value_[place++], x[i + offset]);
    });
  }

  Simd simd_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::vector<std::int32_t> offset_;       // ascending
  std::vector<std::int64_t> block_start_;  // first place of each block of rows
  ThreadGroups groups_;                    // of blocks
  Array<double> value_;
};

}  // namespace

std::unique_ptr<Kernel> make_dia(const Csr& matrix, Simd simd) {
  return std::make_unique<Dia>(matrix, simd);
}

const KernelType dia_kernel{name, "diagonals, explicit zeros included",
                            [](const PatternFacts& facts) {
                              return if_not_absurd(bytes_of(facts.diagonals, facts.diagonal_elements), facts);
                            },
                            [](const Csr& matrix) { return make_dia(matrix, best_simd()); }};

}  // namespace ayatori::sparse
