#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/factorizations/block_rows.hpp"
#include "ayatori/solvers/preconditioners/factorizations/dense_inverse.hpp"
#include "ayatori/solvers/preconditioners/factorizations/triangular_row.hpp"
#include "ayatori/solvers/preconditioners/orderings/level_slices.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

namespace {

/// y = M^-1 x with M = (D + L) D^-1 (D + U) of diagonal blocks A = L + D + U, one block per contiguous range
/// of rows: a sweep of Gauss and Seidel forward, and one backward (symmetric successive over-relaxation with
/// omega = 1: Axelsson, BIT 12, 1972). It uses the entries of the matrix where they are. Traffic: 12 bytes
/// per entry of the blocks, 48 per row, and 40 per row for x and y.
class Ssor final : public sparse::LinearOperator {
 public:
  /// options.blocks = 0: one per thread, and the rows of that thread in vector operations.
  Ssor(const sparse::Csr& matrix, Array<double> inverse_diagonal, const PreconditionerOptions& options)
      : a_(matrix),
        inverse_(std::move(inverse_diagonal)),
        middle_(matrix.rows),
        blocks_(options.blocks > 0 ? options.blocks : threads_for(matrix.rows)),
        slices_(blocks_) {
    block_for(blocks_, a_.rows, [&](int b) {
      const Range rows = rows_of(b);
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        std::int64_t k = a_.row_start[i];
        while (k < a_.row_start[i + 1] && a_.column[k] < i) ++k;
        middle_[i] = k;
      }
    });
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    block_for(blocks_, a_.rows, [&](int b) {
      const Range rows = rows_of(b);
      const auto left = [&](std::int32_t i) { return entries_left(rows, i); };
      const auto right = [&](std::int32_t i) { return entries_right(rows, i); };
      Slices& slices = slices_[b];
      slices.begin_solve([&] {
        slices.lower = LevelSlices<double>::of(rows, true, left);
        slices.upper = LevelSlices<double>::of(rows, false, right);
      });
      // (D + L) y = x, then (D + U) y = D z with z in the place of y
      sweep<true>(
          rows, slices.lower, left, [&](std::int32_t i) { return x[i]; },
          [&](std::int32_t i, double sum) { return inverse_[i] * sum; }, y.data());
      sweep<false>(
          rows, slices.upper, right, [](std::int32_t) { return 0.0; },
          [&](std::int32_t i, double sum) { return y[i] + inverse_[i] * sum; }, y.data());
    });
  }
  std::int32_t local_size() const override { return a_.rows; }

 private:
  using Slices = TriangleSlices<double>;

  Range rows_of(int b) const { return split_evenly(a_.rows, blocks_, b); }

  /// Entries of row i of a block, from the first on.
  RowEntries<double> entries_left(Range rows, std::int32_t i) const {
    std::int64_t k = a_.row_start[i];
    while (k < middle_[i] && a_.column[k] < rows.begin) ++k;
    return {a_.column.data() + k, a_.value.data() + k, static_cast<std::int32_t>(middle_[i] - k)};
  }
  /// From the last on.
  RowEntries<double, -1> entries_right(Range rows, std::int32_t i) const {
    std::int64_t begin = middle_[i];
    std::int64_t k = a_.row_start[i + 1];
    if (begin < k && a_.column[begin] == i) ++begin;
    while (k > begin && a_.column[k - 1] >= rows.end) --k;
    const std::int64_t last = std::max(k - 1, begin);
    return {a_.column.data() + last, a_.value.data() + last, static_cast<std::int32_t>(k - begin)};
  }

  const sparse::Csr& a_;
  Array<double> inverse_;       ///< inverse of D
  Array<std::int64_t> middle_;  ///< first entry of each row from the diagonal on
  int blocks_;
  mutable std::vector<Slices> slices_;  ///< slices of each block
};

/// The same by nodes: D has a dense block for the unknowns of each, which are relaxed together. Traffic: 8
/// bytes per entry of the blocks and 4 per entry of a node's first row, in each sweep 8 bytes per entry of D,
/// and as above per row.
class NodeSsor final : public sparse::LinearOperator {
 public:
  /// `nodes`: rows with the same columns, at most `largest_node` of them.
  NodeSsor(const sparse::Csr& matrix, BlockStarts nodes, const Array<double>& inverse_diagonal,
           const PreconditionerOptions& options)
      : a_(matrix),
        start_(std::move(nodes)),
        blocks_(options.blocks > 0 ? options.blocks : threads_for(a_.rows)) {
    place_.resize(start_.size());
    place_[0] = 0;
    for (std::int64_t n = 0; n < node_count(); ++n) place_[n + 1] = place_[n] + size(n) * size(n);
    inverse_.assign(place_.back(), 0.0);
    left_.resize(node_count());
    right_.resize(node_count());
    for (std::int64_t n = 0; n < node_count(); ++n) {
      invert(n, inverse_diagonal);
      const std::int32_t* const first = a_.column.data() + a_.row_start[start_[n]];
      const std::int32_t* const last = a_.column.data() + a_.row_start[start_[n] + 1];
      left_[n] = static_cast<std::int32_t>(std::lower_bound(first, last, start_[n]) - first);
      right_[n] = static_cast<std::int32_t>(last - std::lower_bound(first, last, start_[n + 1]));
    }
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    block_for(blocks_, a_.rows, [&](int b) {
      const Range nodes = split_evenly(node_count(), blocks_, b);
      if (nodes.size() == 0) return;
      const Range rows{start_[nodes.begin], start_[nodes.end]};
      for (std::int64_t n = nodes.begin; n < nodes.end; ++n)
        with_size(n, [&]<int order>() { sweep_forward<order>(n, rows, x.data(), y.data()); });
      for (std::int64_t n = nodes.end; n-- > nodes.begin;)
        with_size(n, [&]<int order>() { sweep_backward<order>(n, rows, y.data()); });
    });
  }
  std::int32_t local_size() const override { return a_.rows; }

  static constexpr int largest_node = 8;

 private:
  std::int64_t node_count() const { return static_cast<std::int64_t>(start_.size()) - 1; }
  std::int64_t size(std::int64_t n) const { return start_[n + 1] - start_[n]; }
  /// Entries of each of its rows.
  std::int64_t length(std::int64_t n) const { return a_.row_start[start_[n] + 1] - a_.row_start[start_[n]]; }

  /// Inverts the node's block of D; its diagonal where that is singular.
  void invert(std::int64_t n, const Array<double>& inverse_diagonal) {
    const std::int64_t order = size(n);
    std::array<double, largest_node * largest_node> block{};
    for (std::int64_t i = 0; i < order; ++i) {
      const std::int64_t row = start_[n] + i;
      for (std::int64_t k = a_.row_start[row]; k < a_.row_start[row + 1]; ++k)
        if (const std::int64_t j = a_.column[k] - start_[n]; j >= 0 && j < order)
          block[i * order + j] = a_.value[k];
    }
    const std::span inverse(inverse_.data() + place_[n], static_cast<std::size_t>(order * order));
    if (invert_dense(static_cast<int>(order), std::span(block).first(inverse.size()), inverse)) return;
    std::ranges::fill(inverse, 0.0);
    for (std::int64_t i = 0; i < order; ++i) inverse[i * order + i] = inverse_diagonal[start_[n] + i];
  }

  /// f<rows of node n>(): loops over the rows of a node unroll.
  template <class F>
  void with_size(std::int64_t n, const F& f) const {
    static_assert(largest_node == 8);
    switch (size(n)) {
      case 1:
        return f.template operator()<1>();
      case 2:
        return f.template operator()<2>();
      case 3:
        return f.template operator()<3>();
      case 4:
        return f.template operator()<4>();
      case 5:
        return f.template operator()<5>();
      case 6:
        return f.template operator()<6>();
      case 7:
        return f.template operator()<7>();
      default:
        return f.template operator()<8>();
    }
  }

  /// r - the entries begin to end, counted from a row's first, of all rows of node n times y. Their columns
  /// are the same, so each column and each unknown is read once. Two partial sums hide the latency of an
  /// addition.
  template <int order>
  std::array<double, order> subtract_rows(std::int64_t n, std::int64_t begin, std::int64_t end,
                                          std::array<double, order> r, const double* y) const {
    const std::int64_t first = a_.row_start[start_[n]];
    const std::int32_t* column = a_.column.data() + first;
    const double* value = a_.value.data() + first;
    std::array<const double*, order> row;
    for (int i = 0; i < order; ++i) row[i] = value + i * length(n);
    std::array<double, order> other{};
    std::int64_t k = begin;
    for (; k + 1 < end; k += 2) {
      const double one = y[column[k]], next = y[column[k + 1]];
      for (int i = 0; i < order; ++i) {
        r[i] -= row[i][k] * one;
        other[i] -= row[i][k + 1] * next;
      }
    }
    if (k < end)
      for (int i = 0; i < order; ++i) r[i] -= row[i][k] * y[column[k]];
    for (int i = 0; i < order; ++i) r[i] += other[i];
    return r;
  }

  /// Element i of D^-1 r.
  template <int order>
  double relaxed(std::int64_t n, int i, const std::array<double, order>& r) const {
    const double* inverse = inverse_.data() + place_[n] + i * order;
    double sum = 0;
    for (int j = 0; j < order; ++j) sum += inverse[j] * r[j];
    return sum;
  }

  /// A sweep reads half of each row. Memory behind gaps is not foreseen by the caches, and comes when it is
  /// asked for.
  static constexpr std::int64_t ahead = 8;  // nodes, worked through in the time that memory takes

  /// Entries [begin, end) of the rows of node n. Where it is not inlined GCC takes it for a function without
  /// effect, and leaves calls out.
  [[gnu::always_inline]] void ask_for(std::int64_t n, std::int64_t begin, std::int64_t end) const {
    constexpr std::int64_t line = 64;  // bytes
    const std::int64_t first = a_.row_start[start_[n]];
    for (std::int64_t k = begin; k < end; k += line / sizeof(std::int32_t))
      __builtin_prefetch(a_.column.data() + first + k);
    for (std::int64_t i = 0; i < size(n); ++i)
      for (std::int64_t k = begin; k < end; k += line / sizeof(double))
        __builtin_prefetch(a_.value.data() + first + i * length(n) + k);
  }

  template <int order>
  void sweep_forward(std::int64_t n, Range rows, const double* x, double* y) const {
    if (n + ahead < node_count()) ask_for(n + ahead, 0, left_[n + ahead]);
    const std::int32_t* column = a_.column.data() + a_.row_start[start_[n]];
    std::int64_t begin = 0;
    while (begin < left_[n] && column[begin] < rows.begin) ++begin;
    std::array<double, order> r;
    std::copy_n(x + start_[n], order, r.begin());
    r = subtract_rows<order>(n, begin, left_[n], r, y);
    for (int i = 0; i < order; ++i) y[start_[n] + i] = relaxed<order>(n, i, r);
  }

  template <int order>
  void sweep_backward(std::int64_t n, Range rows, double* y) const {
    if (n >= ahead) ask_for(n - ahead, length(n - ahead) - right_[n - ahead], length(n - ahead));
    const std::int32_t* column = a_.column.data() + a_.row_start[start_[n]];
    std::int64_t end = length(n);
    const std::int64_t begin = end - right_[n];
    while (end > begin && column[end - 1] >= rows.end) --end;
    const auto r = subtract_rows<order>(n, begin, end, {}, y);
    for (int i = 0; i < order; ++i) y[start_[n] + i] += relaxed<order>(n, i, r);
  }

  const sparse::Csr& a_;
  BlockStarts start_;         ///< rows of the nodes
  Array<std::int32_t> left_;  ///< entries of a row left of its node's block of D
  Array<std::int32_t> right_;
  Array<std::int64_t> place_;  ///< place of each node's block in `inverse_`
  Array<double> inverse_;      ///< inverse of D, by nodes
  int blocks_;
};

/// The unknowns of nodes, where most rows stand together with others of the same columns; else nothing.
BlockStarts nodes_of(const sparse::Csr& matrix) {
  constexpr double most = 0.6;  // nodes to a row
  BlockStarts nodes = natural_blocks(matrix, NodeSsor::largest_node);
  const auto count = static_cast<double>(nodes.size()) - 1;
  return count <= most * matrix.rows ? std::move(nodes) : BlockStarts{};
}

std::unique_ptr<sparse::LinearOperator> make_sweeps(const sparse::Csr& matrix, Array<double> inverse_diagonal,
                                                    const PreconditionerOptions& options) {
  if (options.blocks < 0) throw InputError(fmt::format("ssor: blocks = {}, want >= 0", options.blocks));
  BlockStarts nodes = nodes_of(matrix);
  if (!nodes.empty()) return std::make_unique<NodeSsor>(matrix, std::move(nodes), inverse_diagonal, options);
  return std::make_unique<Ssor>(matrix, std::move(inverse_diagonal), options);
}

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  InverseDiagonal diagonal = invert_diagonal(matrix, "ssor");
  auto op = comm::agree(matrix.comm(),
                        [&] { return make_sweeps(matrix.interior(), std::move(diagonal.value), options); });
  return {std::move(op), diagonal.notes()};
}

}  // namespace

const Preconditioner ssor_preconditioner{
    .name = "ssor",
    .description =
        "a sweep of Gauss and Seidel through diagonal blocks and back, node by node, one block per thread",
    .symmetric = true,
    .make = make};

}  // namespace ayatori::solvers
