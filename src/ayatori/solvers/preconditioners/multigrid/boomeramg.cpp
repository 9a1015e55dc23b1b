#ifdef AYATORI_HAS_HYPRE

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/mpi/fortran_handle.hpp"
#include "ayatori/solvers/preconditioners/multigrid/nodes.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

namespace {

/// BoomerAMG's parameters, some of them by their numbers in hypre's manual. They suit diffusion on ranks of
/// several nodes (Yang 2010); CG needs a cycle that smooths backward on its way up.
constexpr HYPRE_Int hmis = 10;
constexpr HYPRE_Int extended_plus_i = 6;
constexpr HYPRE_Int entries_of_interpolation = 4;  ///< per row
constexpr double strong_threshold = 0.25;
constexpr HYPRE_Int l1_forward = 13;  ///< Gauss-Seidel
constexpr HYPRE_Int l1_backward = 14;
constexpr HYPRE_Int way_down = 1;
constexpr HYPRE_Int way_up = 2;
constexpr HYPRE_Int in_storage_order = 0;

/// A rank's rows by global column numbers, as hypre wants them.
struct Rows {
  HYPRE_BigInt first = 0;
  std::vector<HYPRE_BigInt> number;
  std::vector<HYPRE_Int> entries;
  std::vector<HYPRE_BigInt> column;
  std::vector<double> value;
  std::int64_t replaced_diagonals = 0;

  /// Gives a diagonal to the last row, which begins with entry `begin`. Hypre takes one other than 0 for
  /// granted, and without it reads those of other rows. The largest entry of the row takes its place, or 1.
  void ensure_diagonal(HYPRE_BigInt row, std::size_t begin) {
    const auto place =
        std::find(column.begin() + static_cast<std::ptrdiff_t>(begin), column.end(), row) - column.begin();
    const auto k = static_cast<std::size_t>(place);
    if (k < column.size() && value[k] != 0) return;
    double largest = 0;
    for (std::size_t i = begin; i < value.size(); ++i) largest = std::max(largest, std::abs(value[i]));
    if (k == column.size()) {
      column.push_back(row);
      value.push_back(0);
    }
    value[k] = largest > 0 ? largest : 1;
    ++replaced_diagonals;
  }
};

Rows rows_of(const sparse::DistributedMatrix& matrix) {
  const Range mine = matrix.partition().range(matrix.comm().rank());
  const sparse::SplitMatrix& parts = matrix.parts();
  if (matrix.global_rows() >= std::numeric_limits<HYPRE_BigInt>::max())
    throw EnvironmentError("boomeramg: hypre cannot count that many rows");
  Rows rows;
  rows.first = static_cast<HYPRE_BigInt>(mine.begin);
  rows.number.resize(mine.size());
  std::iota(rows.number.begin(), rows.number.end(), rows.first);
  rows.column.reserve(parts.interior.nonzeros() + parts.halo.nonzeros());
  rows.value.reserve(rows.column.capacity());
  const auto append = [&](const sparse::Csr& part, std::int64_t r, auto&& global_column) {
    for (std::int64_t k = part.row_start[r]; k < part.row_start[r + 1]; ++k) {
      if (!std::isfinite(part.value[k]))
        throw InputError(
            fmt::format("boomeramg: row {}: an entry is not finite", rows.number[rows.entries.size()] + 1));
      rows.column.push_back(static_cast<HYPRE_BigInt>(global_column(part.column[k])));
      rows.value.push_back(part.value[k]);
    }
  };
  std::int64_t halo_row = 0;
  for (std::int64_t r = 0; r < mine.size(); ++r) {
    const std::size_t before = rows.column.size();
    append(parts.interior, r, [&](std::int32_t c) { return mine.begin + c; });
    if (halo_row < parts.halo.rows && parts.halo_rows[halo_row] == r)
      append(parts.halo, halo_row++, [&](std::int32_t c) { return parts.plan.ghosts[c]; });
    rows.ensure_diagonal(rows.number[r], before);
    rows.entries.push_back(static_cast<HYPRE_Int>(rows.column.size() - before));
  }
  return rows;
}

/// One V-cycle of BoomerAMG from zero. Collective: made, applied and destroyed by all ranks together.
class BoomerAmg final : public sparse::LinearOperator {
 public:
  BoomerAmg(const comm::Comm& comm, Rows rows, int unknowns)
      : comm_(comm.duplicate()), numbers_(std::move(rows.number)), first_row_(rows.first) {
    // hypre keeps what this makes until the program ends: nobody else may be deprived of it before.
    HYPRE_Init();
    const MPI_Comm handle = MPI_Comm_f2c(comm::fortran_handle(comm_));
    const HYPRE_BigInt last_row = first_row_ + local_size() - 1;
    HYPRE_IJMatrixCreate(handle, first_row_, last_row, first_row_, last_row, &matrix_);
    HYPRE_IJMatrixSetObjectType(matrix_, HYPRE_PARCSR);
    HYPRE_IJMatrixSetRowSizes(matrix_, rows.entries.data());
    HYPRE_IJMatrixInitialize(matrix_);
    HYPRE_IJMatrixSetValues(matrix_, local_size(), rows.entries.data(), numbers_.data(), rows.column.data(),
                            rows.value.data());
    HYPRE_IJMatrixAssemble(matrix_);
    for (HYPRE_IJVector* vector : {&x_, &y_}) {
      HYPRE_IJVectorCreate(handle, first_row_, last_row, vector);
      HYPRE_IJVectorSetObjectType(*vector, HYPRE_PARCSR);
      HYPRE_IJVectorInitialize(*vector);
      HYPRE_IJVectorAssemble(*vector);
    }
    HYPRE_BoomerAMGCreate(&solver_);
    HYPRE_BoomerAMGSetPrintLevel(solver_, 0);
    HYPRE_BoomerAMGSetTol(solver_, 0);
    HYPRE_BoomerAMGSetMaxIter(solver_, 1);
    HYPRE_BoomerAMGSetNumFunctions(solver_, unknowns);
    HYPRE_BoomerAMGSetCoarsenType(solver_, hmis);
    HYPRE_BoomerAMGSetInterpType(solver_, extended_plus_i);
    HYPRE_BoomerAMGSetPMaxElmts(solver_, entries_of_interpolation);
    HYPRE_BoomerAMGSetStrongThreshold(solver_, strong_threshold);
    HYPRE_BoomerAMGSetRelaxOrder(solver_, in_storage_order);
    HYPRE_BoomerAMGSetCycleRelaxType(solver_, l1_forward, way_down);
    HYPRE_BoomerAMGSetCycleRelaxType(solver_, l1_backward, way_up);
    HYPRE_BoomerAMGSetup(solver_, parallel_matrix(), parallel_vector(x_), parallel_vector(y_));
  }
  ~BoomerAmg() override {
    HYPRE_BoomerAMGDestroy(solver_);
    for (HYPRE_IJVector vector : {x_, y_}) HYPRE_IJVectorDestroy(vector);
    HYPRE_IJMatrixDestroy(matrix_);
    HYPRE_ClearAllErrors();
  }
  BoomerAmg(const BoomerAmg&) = delete;
  BoomerAmg& operator=(const BoomerAmg&) = delete;

  /// What is not finite in x passes to y; hypre may count it among its errors, which are forgotten.
  void apply(std::span<const double> x, std::span<double> y) const override {
    HYPRE_IJVectorSetValues(x_, local_size(), numbers_.data(), x.data());
    HYPRE_ParVectorSetConstantValues(parallel_vector(y_), 0);
    HYPRE_BoomerAMGSolve(solver_, parallel_matrix(), parallel_vector(x_), parallel_vector(y_));
    HYPRE_IJVectorGetValues(y_, local_size(), numbers_.data(), y.data());
    HYPRE_ClearAllErrors();
  }
  std::int32_t local_size() const override { return static_cast<std::int32_t>(numbers_.size()); }

 private:
  HYPRE_ParCSRMatrix parallel_matrix() const {
    void* object = nullptr;
    HYPRE_IJMatrixGetObject(matrix_, &object);
    return static_cast<HYPRE_ParCSRMatrix>(object);
  }
  static HYPRE_ParVector parallel_vector(HYPRE_IJVector vector) {
    void* object = nullptr;
    HYPRE_IJVectorGetObject(vector, &object);
    return static_cast<HYPRE_ParVector>(object);
  }

  comm::Comm comm_;
  std::vector<HYPRE_BigInt> numbers_;  // numbers of this rank's rows
  HYPRE_BigInt first_row_;
  HYPRE_IJMatrix matrix_ = nullptr;
  HYPRE_IJVector x_ = nullptr;
  HYPRE_IJVector y_ = nullptr;
  HYPRE_Solver solver_ = nullptr;
};

/// Collective. Throws if hypre has noted an error on any rank.
void check_agreed(const comm::Comm& comm) {
  const HYPRE_Int error = HYPRE_GetError();
  HYPRE_ClearAllErrors();
  if (!comm.any(error != 0)) return;
  throw_error(ErrorKind::environment,
              fmt::format("boomeramg: the set-up failed: hypre's error {}",
                          comm.allreduce(error, comm::ReduceOp::max)),
              true);
}

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  const comm::Comm& comm = matrix.comm();
  Rows rows = comm::agree(comm, [&] {
    if (options.gives_up && options.gives_up())
      throw EnvironmentError("boomeramg: the set-up cannot be stopped, so it was not begun");
    return rows_of(matrix);
  });
  int unknowns = amg::unknowns_per_node(matrix);
  // hypre counts the unknowns of a node from a rank's first row.
  if (comm.any(rows.first % unknowns != 0)) unknowns = 1;
  const std::int64_t replaced = comm.allreduce(rows.replaced_diagonals, comm::ReduceOp::sum);
  auto boomeramg = std::make_unique<BoomerAmg>(comm, std::move(rows), unknowns);
  check_agreed(comm);
  std::string note = "BoomerAMG of hypre: HMIS, extended+i";
  if (unknowns > 1) note += fmt::format(", {} unknowns per node", unknowns);
  if (replaced > 0) note += fmt::format(", {} zero diagonals replaced", replaced);
  return {std::move(boomeramg), {std::move(note)}};
}

}  // namespace

const Preconditioner boomeramg_preconditioner{
    .name = "boomeramg",
    .description = "classical algebraic multigrid by hypre, in double",
    .symmetric = true,
    .make = make};

}  // namespace ayatori::solvers

#endif
