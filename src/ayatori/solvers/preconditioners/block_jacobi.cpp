#include "ayatori/solvers/preconditioners/block_jacobi.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/factorizations/block_rows.hpp"
#include "ayatori/solvers/preconditioners/factorizations/dense_inverse.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

namespace {

/// Rows of a block where neither the options nor the matrix say.
constexpr int default_size = 8;

/// The blocks that the options ask for; by default the nodes of the mesh (several nodes in a block can be
/// worse than none: the coupling that is cut makes outliers), if the rows have 1.5 to a node or more.
BlockStarts choose_blocks(const sparse::DistributedMatrix& matrix, int size) {
  if (size < 0 || size > largest_dense)
    throw InputError(fmt::format("block-jacobi: block size {}, want 0 to {}", size, largest_dense));
  const std::int64_t first_row = matrix.partition().range(matrix.comm().rank()).begin;
  if (size > 0) return fixed_blocks(matrix.local_size(), first_row, size);
  BlockStarts nodes = natural_blocks(matrix.interior(), largest_dense);
  if (3 * nodes.size() <= 2 * static_cast<std::size_t>(matrix.local_size()) + 3) return nodes;
  return fixed_blocks(matrix.local_size(), first_row, default_size);
}

/// y = M x with M block diagonal, its blocks the inverses of small diagonal blocks of A. Traffic:
/// 8 b + 16 + 12 / b bytes per row in blocks of b rows.
class BlockJacobi final : public sparse::LinearOperator {
 public:
  /// `inverse_diagonal` stands in for the blocks that are singular.
  BlockJacobi(const sparse::Csr& matrix, BlockStarts start, const Array<double>& inverse_diagonal)
      : size_(matrix.rows), start_(std::move(start)), offset_(start_.size()) {
    offset_[0] = 0;
    for (std::size_t b = 0; b + 1 < start_.size(); ++b)
      offset_[b + 1] = offset_[b] + static_cast<std::int64_t>(rows_of(b)) * rows_of(b);
    inverse_.resize(offset_.back());
    singular_ = static_cast<std::int64_t>(parallel_sum(size_, [&](Range rows) {
      double singular = 0;
      for_each_block(rows, [&](std::size_t b) { singular += !invert(matrix, b, inverse_diagonal); });
      return singular;
    }));
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    parallel_ranges(size_, [&](Range rows) {
      for_each_block(rows, [&](std::size_t b) {
        const std::int32_t n = rows_of(b);
        const double* row = &inverse_[offset_[b]];
        for (std::int32_t i = 0; i < n; ++i, row += n) {
          double sum = 0;
          for (std::int32_t j = 0; j < n; ++j) sum += row[j] * x[start_[b] + j];
          y[start_[b] + i] = sum;
        }
      });
    });
  }
  std::int32_t local_size() const override { return size_; }

  /// M as compressed sparse rows.
  sparse::Csr rows() const {
    sparse::Csr m{.rows = size_, .columns = size_, .row_start = {}, .column = {}, .value = inverse_};
    m.row_start.push_back(0);
    for (std::size_t b = 0; b + 1 < start_.size(); ++b) {
      for (std::int32_t i = start_[b]; i < start_[b + 1]; ++i) {
        for (std::int32_t j = start_[b]; j < start_[b + 1]; ++j) m.column.push_back(j);
        m.row_start.push_back(static_cast<std::int64_t>(m.column.size()));
      }
    }
    return m;
  }
  std::int64_t blocks() const { return static_cast<std::int64_t>(start_.size()) - 1; }
  std::int64_t singular() const { return singular_; }

 private:
  std::int32_t rows_of(std::size_t b) const { return start_[b + 1] - start_[b]; }

  /// Calls f(b) for the blocks that begin in `rows`: every block belongs to the thread that owns its first
  /// row.
  template <class F>
  void for_each_block(Range rows, F&& f) const {
    const auto first = std::lower_bound(start_.begin(), start_.end() - 1, rows.begin);
    for (auto b = static_cast<std::size_t>(first - start_.begin());
         b + 1 < start_.size() && start_[b] < rows.end; ++b)
      f(b);
  }

  /// Fills the inverse of block b; false if its diagonal had to do.
  bool invert(const sparse::Csr& matrix, std::size_t b, const Array<double>& inverse_diagonal) {
    const std::int32_t n = rows_of(b);
    std::array<double, dense_entries> block;
    std::fill_n(block.begin(), n * n, 0.0);
    const Range rows{start_[b], start_[b + 1]};
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int64_t k = matrix.row_start[rows.begin + i]; k < matrix.row_start[rows.begin + i + 1]; ++k)
        if (rows.contains(matrix.column[k])) block[i * n + matrix.column[k] - rows.begin] = matrix.value[k];
    }
    const std::span<double> inverse(&inverse_[offset_[b]], static_cast<std::size_t>(n) * n);
    if (invert_dense(n, {block.data(), inverse.size()}, inverse)) return true;
    std::fill(inverse.begin(), inverse.end(), 0.0);
    for (std::int32_t i = 0; i < n; ++i) inverse[i * n + i] = inverse_diagonal[rows.begin + i];
    return false;
  }

  std::int32_t size_;
  BlockStarts start_;
  Array<std::int64_t> offset_;  ///< offset of each block in inverse_
  Array<double> inverse_;       ///< by rows
  std::int64_t singular_ = 0;
};

struct BuiltBlockJacobi {
  std::unique_ptr<BlockJacobi> op;
  std::vector<std::string> notes;
};

/// Collective.
BuiltBlockJacobi build(const sparse::DistributedMatrix& matrix, const PreconditionerOptions& options) {
  const InverseDiagonal diagonal = invert_diagonal(matrix, "block-jacobi");
  auto op = comm::agree(matrix.comm(), [&] {
    return std::make_unique<BlockJacobi>(matrix.interior(), choose_blocks(matrix, options.block_size),
                                         diagonal.value);
  });
  std::array<std::int64_t, 2> count{op->singular(), op->blocks()};
  matrix.comm().allreduce(std::span<std::int64_t>(count), comm::ReduceOp::sum);
  BuiltBlockJacobi built{std::move(op), {}};
  if (count[0] > 0)
    built.notes.push_back(
        fmt::format("{} of {} blocks are singular and replaced by their diagonal", count[0], count[1]));
  return built;
}

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  auto [op, notes] = build(matrix, options);
  return {std::move(op), std::move(notes)};
}

}  // namespace

BlockInverses block_jacobi_inverses(const sparse::DistributedMatrix& matrix,
                                    const PreconditionerOptions& options) {
  auto built = build(matrix, options);
  return {comm::agree(matrix.comm(), [&] { return built.op->rows(); }), std::move(built.notes)};
}

const Preconditioner block_jacobi_preconditioner{.name = "block-jacobi",
                                                 .description = "the inverse of small dense diagonal blocks",
                                                 .symmetric = true,
                                                 .make = make};

}  // namespace ayatori::solvers
