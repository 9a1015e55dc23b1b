#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/factorizations/block_factors.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

namespace {

/// Collective. What the factorizations of all ranks have to say.
template <class Scalar>
std::vector<std::string> notes_of(const comm::Comm& comm, const BlockFactors<Scalar>& op,
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
BuiltPreconditioner make_of(const sparse::DistributedMatrix& matrix, const PreconditionerOptions& options,
                            const Interior& interior) {
  constexpr std::int64_t numbers = sizeof(Scalar) / sizeof(double);
  const comm::Comm& comm = matrix.comm();
  const std::int64_t first_row = matrix.partition().range(comm.rank()).begin / numbers;
  auto op = comm::agree(comm, [&] {
    if (options.blocks < 0)
      throw InputError(fmt::format("block-ilu0: blocks = {}, want >= 0", options.blocks));
    const sparse::CsrOf<Scalar>& block = interior();
    return std::make_unique<BlockFactors<Scalar>>(matrix, block.rows, options.blocks, [&](Range rows) {
      return ilu0_factor(block, rows, first_row, options.gives_up);
    });
  });
  auto notes = notes_of(comm, *op, first_row);
  BuiltPreconditioner made = built(std::move(op));
  made.notes = std::move(notes);
  agree_on_split(comm, made);
  return made;
}

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  if (options.matrix_is_complex || options.matrix_is_hermitian)
    return make_of<Complex>(matrix, options, [&] { return sparse::complex_matrix(matrix.interior()); });
  return make_of<double>(matrix, options, [&]() -> const sparse::Csr& { return matrix.interior(); });
}

}  // namespace

const Preconditioner block_ilu0_preconditioner{
    .name = "block-ilu0",
    .description = "incomplete LU without fill of diagonal blocks, one per thread",
    .symmetric = true,
    .make = make};

}  // namespace ayatori::solvers
