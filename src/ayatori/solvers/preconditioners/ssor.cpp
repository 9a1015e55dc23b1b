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
#include "ayatori/solvers/preconditioners/factorizations/block_factors.hpp"
#include "ayatori/solvers/preconditioners/factorizations/dense_inverse.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

namespace {

/// y = M^-1 x with M = (D + L) D^-1 (D + U) of diagonal blocks A = L + D + U, one block per contiguous range
/// of nodes: a sweep of Gauss and Seidel forward, and one backward (symmetric successive over-relaxation with
/// omega = 1: Axelsson, BIT 12, 1972). D has a dense block for the unknowns of each node, which are relaxed
/// together. Traffic: 8 bytes per entry of the blocks and 4 per entry of a node's first row, in each sweep 8
/// bytes per entry of D, 48 per row, and 40 per row for x and y. With a product: half as much again.
class NodeSsor final : public sparse::LinearOperator, public SplitForm {
 public:
  /// `nodes`: rows with the same columns, at most `largest_node` of them.
  NodeSsor(const sparse::DistributedMatrix& matrix, BlockStarts nodes, const Array<double>& inverse_diagonal,
           const PreconditionerOptions& options)
      : matrix_(matrix),
        a_(matrix.interior()),
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
    std::vector<Range> blocks;
    for (int b = 0; b < blocks_; ++b) blocks.push_back(rows_of(block_nodes(b)));
    between_.emplace(a_, blocks);
    work_.resize(a_.rows);
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    for_each_block([&](Range nodes, Range rows) {
      for (std::int64_t n = nodes.begin; n < nodes.end; ++n)
        with_size(n, [&]<int order>() { sweep_forward<order>(n, rows, x.data(), y.data()); });
      for (std::int64_t n = nodes.end; n-- > nodes.begin;)
        with_size(n, [&]<int order>() { sweep_backward<order>(n, rows, y.data()); });
    });
  }

  // Split, where all ranks can:
  void apply(std::span<const double> x, std::span<double> z, std::span<double> w,
             std::span<double> u) const override {
    for_each_block([&](Range nodes, Range rows) {
      for (std::int64_t n = nodes.end; n-- > nodes.begin;)
        with_size(n, [&]<int order>() { solve_upper<order>(n, rows, x.data(), z.data(), w.data(), u); });
    });
    between_->add_product(z, w);
    matrix_.add_halo_product(z, w);
    for_each_block([&](Range nodes, Range rows) {
      for (std::int64_t n = nodes.begin; n < nodes.end; ++n)
        with_size(n, [&]<int order>() { finish_product<order>(n, rows, z.data(), w.data()); });
    });
  }
  void to_split(std::span<double> r) const override {
    for_each_block([&](Range nodes, Range rows) {
      for (std::int64_t n = nodes.begin; n < nodes.end; ++n)
        with_size(n, [&]<int order>() { solve_lower<order>(n, rows, r.data()); });
    });
  }
  void from_split(std::span<const double> seen, std::span<double> r) const override {
    for_each_block([&](Range nodes, Range rows) {
      for (std::int64_t n = nodes.begin; n < nodes.end; ++n)
        with_size(n, [&]<int order>() { multiply_lower<order>(n, rows, seen.data(), r.data()); });
    });
  }
  std::int32_t local_size() const override { return a_.rows; }

  /// Where D has the nodes' blocks of A, none being singular; else nothing.
  const SplitForm* split() const { return holds_blocks_ ? this : nullptr; }

  static constexpr int largest_node = 8;

 private:
  Range block_nodes(int b) const { return split_evenly(node_count(), blocks_, b); }
  /// f(nodes, rows) of every block.
  template <class F>
  void for_each_block(const F& f) const {
    block_for(blocks_, a_.rows, [&](int b) {
      const Range nodes = block_nodes(b);
      if (nodes.size() > 0) f(nodes, rows_of(nodes));
    });
  }
  Range rows_of(Range nodes) const { return {start_[nodes.begin], start_[nodes.end]}; }
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
    holds_blocks_ = false;
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

  /// x - L y of the rows of node n.
  template <int order>
  std::array<double, order> subtract_left(std::int64_t n, Range rows, const double* x,
                                          const double* y) const {
    if (n + ahead < node_count()) ask_for(n + ahead, 0, left_[n + ahead]);
    const std::int32_t* column = a_.column.data() + a_.row_start[start_[n]];
    std::int64_t begin = 0;
    while (begin < left_[n] && column[begin] < rows.begin) ++begin;
    std::array<double, order> r;
    std::copy_n(x + start_[n], order, r.begin());
    return subtract_rows<order>(n, begin, left_[n], r, y);
  }

  /// r - U y of the rows of node n.
  template <int order>
  std::array<double, order> subtract_right(std::int64_t n, Range rows, const std::array<double, order>& r,
                                           const double* y) const {
    if (n >= ahead) ask_for(n - ahead, length(n - ahead) - right_[n - ahead], length(n - ahead));
    const std::int32_t* column = a_.column.data() + a_.row_start[start_[n]];
    std::int64_t end = length(n);
    const std::int64_t begin = end - right_[n];
    while (end > begin && column[end - 1] >= rows.end) --end;
    return subtract_rows<order>(n, begin, end, r, y);
  }

  /// Element i of D y of node n.
  template <int order>
  double block_product(std::int64_t n, int i, const double* y) const {
    const double* row = a_.value.data() + a_.row_start[start_[n]] + i * length(n) + left_[n];
    double sum = 0;
    for (int j = 0; j < order; ++j) sum += row[j] * y[start_[n] + j];
    return sum;
  }

  template <int order>
  void sweep_forward(std::int64_t n, Range rows, const double* x, double* y) const {
    const auto r = subtract_left<order>(n, rows, x, y);
    for (int i = 0; i < order; ++i) y[start_[n] + i] = relaxed<order>(n, i, r);
  }

  template <int order>
  void sweep_backward(std::int64_t n, Range rows, double* y) const {
    const auto r = subtract_right<order>(n, rows, {}, y);
    for (int i = 0; i < order; ++i) y[start_[n] + i] += relaxed<order>(n, i, r);
  }

  /// z = D^-1 (x - U z) and w = U z, which is A z - (L + D) z.
  template <int order>
  void solve_upper(std::int64_t n, Range rows, const double* x, double* z, double* w,
                   std::span<double> u) const {
    std::array<double, order> of_x;
    std::copy_n(x + start_[n], order, of_x.begin());
    const auto r = subtract_right<order>(n, rows, of_x, z);
    for (int i = 0; i < order; ++i) {
      z[start_[n] + i] = relaxed<order>(n, i, r);
      w[start_[n] + i] = of_x[i] - r[i];
      if (!u.empty()) u[start_[n] + i] = relaxed<order>(n, i, of_x);
    }
  }

  /// w becomes K^-1 w + D z; `work_` gets D^-1 K^-1 w.
  template <int order>
  void finish_product(std::int64_t n, Range rows, const double* z, double* w) const {
    const auto y = subtract_left<order>(n, rows, w, work_.data());
    for (int i = 0; i < order; ++i) {
      work_[start_[n] + i] = relaxed<order>(n, i, y);
      w[start_[n] + i] = y[i] + block_product<order>(n, i, z);
    }
  }

  template <int order>
  void solve_lower(std::int64_t n, Range rows, double* r) const {
    const auto y = subtract_left<order>(n, rows, r, work_.data());
    for (int i = 0; i < order; ++i) work_[start_[n] + i] = relaxed<order>(n, i, y);
    std::copy_n(y.begin(), order, r + start_[n]);
  }

  /// r = (I + L D^-1) seen; `work_` gets - D^-1 seen.
  template <int order>
  void multiply_lower(std::int64_t n, Range rows, const double* seen, double* r) const {
    const auto y = subtract_left<order>(n, rows, seen, work_.data());
    std::array<double, order> own;
    std::copy_n(seen + start_[n], order, own.begin());
    for (int i = 0; i < order; ++i) work_[start_[n] + i] = -relaxed<order>(n, i, own);
    std::copy_n(y.begin(), order, r + start_[n]);
  }

  const sparse::DistributedMatrix& matrix_;
  const sparse::Csr& a_;
  BlockStarts start_;         ///< rows of the nodes
  Array<std::int32_t> left_;  ///< entries of a row left of its node's block of D
  Array<std::int32_t> right_;
  Array<std::int64_t> place_;  ///< place of each node's block in `inverse_`
  Array<double> inverse_;      ///< inverse of D, by nodes
  int blocks_;
  bool holds_blocks_ = true;
  std::optional<BetweenBlocks> between_;
  mutable Array<double> work_;  ///< rows
};

/// The unknowns of nodes, where most rows stand together with others of the same columns; else nothing.
BlockStarts nodes_of(const sparse::Csr& matrix) {
  constexpr double most = 0.6;  // nodes to a row
  BlockStarts nodes = natural_blocks(matrix, NodeSsor::largest_node);
  const auto count = static_cast<double>(nodes.size()) - 1;
  return count <= most * matrix.rows ? std::move(nodes) : BlockStarts{};
}

BuiltPreconditioner make_sweeps(const sparse::DistributedMatrix& matrix, const InverseDiagonal& diagonal,
                                const PreconditionerOptions& options) {
  if (options.blocks < 0) throw InputError(fmt::format("ssor: blocks = {}, want >= 0", options.blocks));
  const sparse::Csr& block = matrix.interior();
  if (BlockStarts nodes = nodes_of(block); !nodes.empty())
    return built(std::make_unique<NodeSsor>(matrix, std::move(nodes), diagonal.value, options));
  const auto factor = [&](Range rows) { return take_triangles(block, rows, diagonal.value); };
  return built(std::make_unique<BlockFactors<double>>(matrix, block.rows, options.blocks, factor));
}

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  const InverseDiagonal diagonal = invert_diagonal(matrix, "ssor");
  auto made = comm::agree(matrix.comm(), [&] { return make_sweeps(matrix, diagonal, options); });
  made.notes = diagonal.notes();
  agree_on_split(matrix.comm(), made);
  return made;
}

}  // namespace

const Preconditioner ssor_preconditioner{
    .name = "ssor",
    .description =
        "a sweep of Gauss and Seidel through diagonal blocks and back, node by node, one block per thread",
    .symmetric = true,
    .make = make};

}  // namespace ayatori::solvers
