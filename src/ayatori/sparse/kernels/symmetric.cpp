#include <algorithm>

#include "ayatori/base/parallel.hpp"
#include "ayatori/sparse/kernels/kernels.hpp"
#include "ayatori/sparse/kernels/thread_groups.hpp"
#include "ayatori/sparse/pattern/mirror.hpp"

namespace ayatori::sparse {

namespace {

constexpr std::string_view name = "symmetric";

/// Where the entries of each row begin when those right of the diagonal are left out.
std::vector<std::int64_t> starts_of_lower(const Csr& matrix) {
  std::vector<std::int64_t> counts(matrix.rows);
  parallel_for(matrix.rows, [&](std::int64_t i) {
    const auto begin = matrix.column.begin() + matrix.row_start[i];
    const auto end = matrix.column.begin() + matrix.row_start[i + 1];
    counts[i] = std::upper_bound(begin, end, static_cast<std::int32_t>(i)) - begin;
  });
  return starts_of(counts);
}

/// The lower half and the diagonal of a symmetric matrix in compressed sparse rows: an entry (i, j) serves
/// y_i and y_j. What a thread adds to rows before its own goes to a buffer of its own, and is added by the
/// thread that owns them once all are done, in the order of the threads. Traffic: 12 bytes per stored entry
/// (about half of the nonzeros), 8 per row; the buffers as far as entries of a group reach back before it.
class Symmetric final : public Kernel {
 public:
  Symmetric(const Csr& matrix, const std::vector<std::int64_t>& start)
      : groups_(start),
        row_start_(start.size()),
        column_(start.back()),
        value_(start.back()),
        before_(groups_.size()) {
    row_start_[0] = 0;
    for (int g = 0; g < groups_.size(); ++g) before_[g] = reach(matrix, groups_[g]);
    std::vector<std::int64_t> lengths;
    for (const Range& rows : before_) lengths.push_back(rows.size());
    buffer_start_ = starts_of(lengths);
    buffers_ = Array<double>(buffer_start_.back());
    groups_.for_each([&](int, Range rows) {
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const std::int64_t first = matrix.row_start[i];
        row_start_[i + 1] = start[i + 1];
        std::copy_n(matrix.column.begin() + first, start[i + 1] - start[i], column_.begin() + start[i]);
        std::copy_n(matrix.value.begin() + first, start[i + 1] - start[i], value_.begin() + start[i]);
      }
    });
  }

  void multiply(std::span<const double> x, std::span<double> y) const override {
    groups_.for_each([&](int group, Range rows) {
      multiply_rows(rows, before_[group], buffers_.data() + buffer_start_[group], x.data(), y.data());
    });
    if (buffers_.empty()) return;
    groups_.for_each([&](int group, Range rows) {
      for (int other = group + 1; other < groups_.size(); ++other) {
        const double* buffer = buffers_.data() + buffer_start_[other] - before_[other].begin;
        const std::int64_t end = std::min(rows.end, before_[other].end);
        for (std::int64_t i = std::max(rows.begin, before_[other].begin); i < end; ++i) y[i] += buffer[i];
      }
    });
  }

  std::int64_t matrix_bytes() const override {
    return static_cast<std::int64_t>(12 * value_.size() + 8 * row_start_.size());
  }

 private:
  /// Rows before these that their entries refer to.
  static Range reach(const Csr& matrix, Range rows) {
    std::int64_t first = rows.begin;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      if (matrix.row_start[i] < matrix.row_start[i + 1])
        first = std::min<std::int64_t>(first, matrix.column[matrix.row_start[i]]);
    }
    return {first, rows.begin};
  }

  /// y of these rows, but for what later groups add; `buffer`: what these rows add to those before.
  void multiply_rows(Range rows, Range before, double* buffer, const double* x, double* y) const {
    std::fill(buffer, buffer + before.size(), 0.0);
    double* far = before.empty() ? nullptr : buffer - before.begin;
    const std::int32_t* column = column_.data();
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      std::int64_t k = row_start_[i];
      const std::int64_t end = row_start_[i + 1];
      const bool has_diagonal = k < end && column[end - 1] == i;
      const std::int64_t lower = end - (has_diagonal ? 1 : 0);
      double sum = has_diagonal ? value_[lower] * x[i] : 0;
      sum += add_entries(k, lower, static_cast<std::int32_t>(rows.begin), x, x[i], far);
      sum += add_entries(k, lower, static_cast<std::int32_t>(i), x, x[i], y);
      y[i] = sum;  // rows before i have been assigned, so they may be added to
    }
  }

  /// Entries from k on whose columns are below `bound`, and k beyond them: gives their sum for the row, and
  /// adds to[j] += a_ij x_i. Several independent sums: with one, the latency of the addition bounds long
  /// rows.
  [[gnu::always_inline]] double add_entries(std::int64_t& k, std::int64_t end, std::int32_t bound,
                                            const double* x, double x_i, double* to) const {
    constexpr int unroll = 4;
    const std::int32_t* column = column_.data();
    const double* value = value_.data();
    double sums[unroll] = {};
    for (; k + unroll <= end && column[k + unroll - 1] < bound; k += unroll) {
      for (int u = 0; u < unroll; ++u) {
        const std::int32_t j = column[k + u];
        sums[u] += value[k + u] * x[j];
        to[j] += value[k + u] * x_i;
      }
    }
    for (; k < end && column[k] < bound; ++k) {
      sums[0] += value[k] * x[column[k]];
      to[column[k]] += value[k] * x_i;
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  ThreadGroups groups_;
  Array<std::int64_t> row_start_;
  Array<std::int32_t> column_;
  Array<double> value_;
  std::vector<Range> before_;  // rows before each group that it adds to
  std::vector<std::int64_t> buffer_start_;
  mutable Array<double> buffers_;  // one product at a time
};

}  // namespace

const KernelType symmetric_kernel{
    .name = name,
    .description = "lower half of a symmetric matrix: every entry serves two rows",
    .conversion_products = 8,
    .predicted_bytes = [](const PatternFacts& facts) -> std::optional<std::int64_t> {
      if (!facts.symmetric) return std::nullopt;
      return csr_bytes(facts.rows, (facts.nonzeros + facts.main_diagonal_entries) / 2);
    },
    .indexed_accesses = [](const PatternFacts& facts) { return 1.5 * static_cast<double>(facts.nonzeros); },
    .make = [](const Csr& matrix) -> std::unique_ptr<Kernel> {
      if (!is_symmetric(matrix)) cannot_hold(name, "it is not symmetric");
      return std::make_unique<Symmetric>(matrix, starts_of_lower(matrix));
    }};

}  // namespace ayatori::sparse
