#include <memory>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/factorizations/block_rows.hpp"
#include "ayatori/solvers/preconditioners/factorizations/triangular_row.hpp"
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
        blocks_(options.blocks > 0 ? options.blocks : threads_for(matrix.rows)) {
    for_each_block([&](Range rows) {
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        std::int64_t k = a_.row_start[i];
        while (k < a_.row_start[i + 1] && a_.column[k] < i) ++k;
        middle_[i] = k;
      }
    });
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    for_each_block([&](Range rows) {
      sweep_forward(rows, x.data(), y.data());
      sweep_backward(rows, y.data());
    });
  }
  std::int32_t local_size() const override { return a_.rows; }

 private:
  template <class F>
  void for_each_block(F&& f) const {
    block_for(blocks_, a_.rows, [&](int b) { f(split_evenly(a_.rows, blocks_, b)); });
  }

  /// (D + L) y = x
  void sweep_forward(Range rows, const double* x, double* y) const {
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const std::int64_t end = middle_[i];
      std::int64_t k = a_.row_start[i];
      while (k < end && a_.column[k] < rows.begin) ++k;
      y[i] = inverse_[i] * subtract_row<1>(x[i], a_.column.data() + k, a_.value.data() + k, 0,
                                           static_cast<std::int32_t>(end - k), y);
    }
  }

  /// (D + U) y = D z, z in the place of y
  void sweep_backward(Range rows, double* y) const {
    for (std::int64_t i = rows.end; i-- > rows.begin;) {
      std::int64_t begin = middle_[i];
      std::int64_t k = a_.row_start[i + 1];
      if (begin < k && a_.column[begin] == i) ++begin;
      while (k > begin && a_.column[k - 1] >= rows.end) --k;
      y[i] += inverse_[i] * subtract_row<-1>(0, a_.column.data() + k, a_.value.data() + k, -1,
                                             static_cast<std::int32_t>(k - begin), y);
    }
  }

  const sparse::Csr& a_;
  Array<double> inverse_;       ///< of D
  Array<std::int64_t> middle_;  ///< of each row, its first entry from the diagonal on
  int blocks_;
};

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  InverseDiagonal diagonal = invert_diagonal(matrix, "ssor");
  auto op = comm::agree(matrix.comm(), [&] {
    if (options.blocks < 0) throw InputError(fmt::format("ssor: blocks = {}, want >= 0", options.blocks));
    return std::make_unique<Ssor>(matrix.interior(), std::move(diagonal.value), options);
  });
  return {std::move(op), diagonal.notes()};
}

}  // namespace

const Preconditioner ssor_preconditioner{
    .name = "ssor",
    .description = "a sweep of Gauss and Seidel through diagonal blocks and back, one block per thread",
    .symmetric = true,
    .make = make};

}  // namespace ayatori::solvers
