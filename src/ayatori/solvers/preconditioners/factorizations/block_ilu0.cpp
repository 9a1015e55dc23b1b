#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/factorizations/block_rows.hpp"
#include "ayatori/solvers/preconditioners/factorizations/ilu0.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers {

namespace {

/// y = M x with M the block diagonal of (L D U)^-1, one block per contiguous range of rows. A thread solves
/// with the blocks that it has factored, without a barrier in between. Traffic: 12 bytes per off-diagonal
/// entry of the blocks, 16 per row, and 40 per row for x and y; of complex numbers 20, 24 and 80.
template <class Scalar>
class BlockIlu0 final : public sparse::LinearOperator {
 public:
  /// options.blocks = 0: one per thread, and the rows of that thread in vector operations.
  BlockIlu0(const sparse::CsrOf<Scalar>& matrix, std::int64_t first_row, const PreconditionerOptions& options)
      : size_(matrix.rows), factors_(options.blocks > 0 ? options.blocks : threads_for(matrix.rows)) {
    FirstException exception;
    for_each_block([&](int b) {
      exception.guard([&] { factors_[b] = ilu0_factor(matrix, rows_of(b), first_row, options.gives_up); });
    });
    exception.rethrow();
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    for_each_block([&](int b) {
      const Range rows = rows_of(b);
      factors_[b].solve(as<Scalar>(x).subspan(rows.begin, rows.size()),
                        as<Scalar>(y).subspan(rows.begin, rows.size()));
    });
  }
  std::int32_t local_size() const override {
    return size_ * static_cast<std::int32_t>(sizeof(Scalar) / sizeof(double));
  }

  const std::vector<Ilu0Of<Scalar>>& factors() const { return factors_; }
  Range rows_of(int b) const { return split_evenly(size_, static_cast<std::int64_t>(factors_.size()), b); }

 private:
  template <class F>
  void for_each_block(F&& f) const {
    block_for(static_cast<int>(factors_.size()), size_, f);
  }

  std::int32_t size_;  ///< rows
  std::vector<Ilu0Of<Scalar>> factors_;
};

/// Collective. What the factorizations of all ranks have to say.
template <class Scalar>
std::vector<std::string> notes_of(const comm::Comm& comm, const BlockIlu0<Scalar>& op,
                                  std::int64_t first_row) {
  enum Count { blocks, shifted, diagonal_only, inserted, zero_rows, counts };
  std::array<std::int64_t, counts> count{};
  std::int64_t rejected_row = std::numeric_limits<std::int64_t>::max();
  double shift = 0;
  for (std::size_t b = 0; b < op.factors().size(); ++b) {
    const Ilu0Report& report = op.factors()[b].report;
    count[blocks] += 1;
    count[shifted] += report.shift > 0;
    count[diagonal_only] += report.diagonal_only;
    count[inserted] += report.inserted_diagonals;
    count[zero_rows] += report.zero_rows;
    shift = std::max(shift, report.shift);
    if (report.rejected_row >= 0)
      rejected_row =
          std::min(rejected_row, first_row + op.rows_of(static_cast<int>(b)).begin + report.rejected_row + 1);
  }
  comm.allreduce(std::span<std::int64_t>(count), comm::ReduceOp::sum);
  rejected_row = comm.allreduce(rejected_row, comm::ReduceOp::min);
  shift = comm.allreduce(shift, comm::ReduceOp::max);

  std::vector<std::string> notes;
  if (count[shifted] > 0)
    notes.push_back(
        fmt::format("{} of {} blocks shifted by up to {:g} of the diagonal (first bad pivot: row {})",
                    count[shifted], count[blocks], shift, rejected_row));
  if (count[diagonal_only] > 0)
    notes.push_back(fmt::format("{} of {} blocks replaced by their diagonal, as no shift gave usable pivots",
                                count[diagonal_only], count[blocks]));
  if (count[inserted] > 0)
    notes.push_back(fmt::format("{} missing diagonal entries inserted", count[inserted]));
  if (count[zero_rows] > 0)
    notes.push_back(fmt::format("{} rows are zero within their block", count[zero_rows]));
  return notes;
}

/// Collective. `interior`, called on each rank, gives its own block.
template <class Scalar, class Interior>
BuiltPreconditioner make_of(const comm::Comm& comm, std::int64_t first_row,
                            const PreconditionerOptions& options, const Interior& interior) {
  auto op = comm::agree(comm, [&] {
    if (options.blocks < 0)
      throw InputError(fmt::format("block-ilu0: blocks = {}, want >= 0", options.blocks));
    return std::make_unique<BlockIlu0<Scalar>>(interior(), first_row, options);
  });
  auto notes = notes_of(comm, *op, first_row);
  return {std::move(op), std::move(notes)};
}

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  const std::int64_t first_row = matrix.partition().range(matrix.comm().rank()).begin;
  if (options.matrix_is_complex || options.matrix_is_hermitian)
    return make_of<Complex>(matrix.comm(), first_row / 2, options,
                            [&] { return sparse::complex_matrix(matrix.interior()); });
  return make_of<double>(matrix.comm(), first_row, options,
                         [&]() -> const sparse::Csr& { return matrix.interior(); });
}

}  // namespace

const Preconditioner block_ilu0_preconditioner{
    .name = "block-ilu0",
    .description = "incomplete LU without fill of diagonal blocks, one per thread",
    .symmetric = true,
    .make = make};

}  // namespace ayatori::solvers
