#include <algorithm>

#include "ayatori/sparse/kernels/kernels.hpp"
#include "ayatori/sparse/kernels/thread_groups.hpp"

namespace ayatori::sparse {

namespace {

constexpr std::string_view name = "csr-delta16";
constexpr std::int64_t too_far = 1 << 16;
constexpr int unroll = 4;  // independent sums

/// Compressed sparse rows whose columns are kept as 16-bit steps from one entry of the row to the next, and
/// the first of each row. Traffic: 10 bytes per nonzero (6 in single precision), 12 per row.
template <class Real>
class CsrDelta16 final : public KernelOf<Real> {
 public:
  CsrDelta16(const Csr& matrix, double scale)
      : groups_(matrix.row_start),
        row_start_(matrix.row_start.size()),
        first_column_(matrix.rows),
        step_(matrix.column.size()),
        value_(matrix.value.size()) {
    row_start_[0] = 0;
    std::vector<std::int64_t> longest(groups_.size(), 0);
    groups_.for_each([&](int group, Range rows) { longest[group] = fill(matrix, scale, rows); });
    const std::int64_t gap = *std::max_element(longest.begin(), longest.end());
    if (gap >= too_far)
      cannot_hold(name, fmt::format("neighbouring entries of a row are {} columns apart", gap));
  }

  void multiply(std::span<const Real> x, std::span<Real> y) const override {
    groups_.for_each([&](int, Range rows) { multiply_rows(rows, x.data(), y.data()); });
  }

  std::int64_t matrix_bytes() const override {
    return static_cast<std::int64_t>(8 * row_start_.size() + 4 * first_column_.size() + 2 * step_.size() +
                                     sizeof(Real) * value_.size());
  }

 private:
  /// Returns the longest step of these rows, which need not fit.
  std::int64_t fill(const Csr& matrix, double scale, Range rows) {
    std::int64_t longest = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const std::int64_t begin = matrix.row_start[i];
      const std::int64_t end = matrix.row_start[i + 1];
      row_start_[i + 1] = end;
      first_column_[i] = begin < end ? matrix.column[begin] : 0;
      std::int32_t previous = first_column_[i];
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int32_t step = matrix.column[k] - previous;
        longest = std::max<std::int64_t>(longest, step);
        step_[k] = static_cast<std::uint16_t>(step);
        value_[k] = static_cast<Real>(scale * matrix.value[k]);
        previous = matrix.column[k];
      }
    }
    return longest;
  }

  void multiply_rows(Range rows, const Real* x, Real* y) const {
    const std::uint16_t* step = step_.data();
    const Real* value = value_.data();
    std::int64_t k = row_start_[rows.begin];
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const Real* at = x + first_column_[i];
      const std::int64_t end = row_start_[i + 1];
      Real sums[unroll] = {};
      for (; k + unroll <= end; k += unroll) {
        for (int u = 0; u < unroll; ++u) {
          at += step[k + u];
          sums[u] += value[k + u] * *at;
        }
      }
      Real sum = 0;
      for (const Real part : sums) sum += part;
      for (; k < end; ++k) {
        at += step[k];
        sum += value[k] * *at;
      }
      y[i] = sum;
    }
  }

  ThreadGroups groups_;
  Array<std::int64_t> row_start_;
  Array<std::int32_t> first_column_;  // first column of each row
  Array<std::uint16_t> step_;         // from the entry before, 0 for the first of a row
  Array<Real> value_;
};

}  // namespace

const KernelType csr_delta16_kernel{
    .name = name,
    .description = "compressed sparse rows with 16-bit steps between columns",
    .conversion_products = 3,
    .predicted_bytes = [](const PatternFacts& facts) -> std::optional<std::int64_t> {
      if (!facts.gaps_fit_16_bits) return std::nullopt;
      return 10 * facts.nonzeros + std::int64_t{12} * facts.rows + 8;
    },
    .indexed_accesses = [](const PatternFacts& facts) { return static_cast<double>(facts.nonzeros); },
    .make = [](const Csr& matrix) -> std::unique_ptr<Kernel> {
      return std::make_unique<CsrDelta16<double>>(matrix, 1);
    },
    .make_float = [](const Csr& matrix, double scale) -> std::unique_ptr<FloatKernel> {
      return std::make_unique<CsrDelta16<float>>(matrix, scale);
    }};

}  // namespace ayatori::sparse
