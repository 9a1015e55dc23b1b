#ifdef AYATORI_HAS_MUMPS

#include <dmumps_c.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ayatori/base/memory.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/mpi/fortran_handle.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

extern "C" {
void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
}

namespace ayatori::solvers {

namespace {

/// MUMPS' parameters by their numbers in its manual, which count from 1.
enum Control { error_stream = 1, warning_stream = 2, global_stream = 3, verbosity = 4, more_memory = 14 };
constexpr int column_permutation = 6;
constexpr int ordering = 7;
constexpr int null_pivots = 24;
enum Job { initialize = -1, terminate = -2, analyse = 1, factor = 2, solve = 3 };
/// On smaller matrices several ranks save less time in the factorization than they lose in the solves.
constexpr std::int64_t rows_worth_all_ranks = 1 << 14;
/// A pivot is accepted if it is this share of its column's largest entry. Rejected ones are delayed and fill
/// the factors; what accepted ones lose, the iterations around the factors correct, as each sees the
/// residual. MUMPS' own 0.01 is for solves without iterations: c-62's factors do not end with it, and take
/// a second so.
constexpr double least_pivot = 1e-6;
constexpr int most_extra_memory = 2000;  ///< percent of the estimate, before the factorization is given up

/// A X = b by the complete factors of MUMPS (Amestoy, Duff, L'Excellent & Koster 2001), on all ranks or on
/// rank 0. Collective: made, applied and destroyed by all ranks together.
class Mumps {
 public:
  Mumps(const comm::Comm& comm, bool symmetric, bool on_one_rank)
      : comm_(comm.duplicate()), workers_(on_one_rank ? comm::Comm::self() : comm_) {
    constexpr int general = 0;
    constexpr int symmetric_indefinite = 2;
    data_.comm_fortran = comm::fortran_handle(workers_);
    data_.par = 1;  // rank 0 computes, too
    data_.sym = symmetric ? symmetric_indefinite : general;
    run(Job::initialize);
    for (const int stream : {error_stream, warning_stream, global_stream, verbosity}) control(stream) = 0;
    control(null_pivots) = 1;
    data_.cntl[0] = least_pivot;
  }
  ~Mumps() { run(Job::terminate); }
  Mumps(const Mumps&) = delete;
  Mumps& operator=(const Mumps&) = delete;

  /// The result's code, the same on all ranks; negative: an error.
  int run(Job job) {
    data_.job = job;
    if (!is_on_one_rank() || comm_.rank() == 0) dmumps_c(&data_);
    if (is_on_one_rank() && job != Job::solve) {
      comm_.broadcast(std::span<MUMPS_INT>(data_.infog), 0);
      comm_.broadcast(std::span<double>(data_.rinfog), 0);
    }
    return info(1);
  }
  int& control(int number) { return data_.icntl[number - 1]; }
  int info(int number) const { return data_.infog[number - 1]; }
  DMUMPS_STRUC_C& data() { return data_; }
  const DMUMPS_STRUC_C& data() const { return data_; }
  const comm::Comm& comm() const { return comm_; }
  /// Those of comm() that compute.
  const comm::Comm& workers() const { return workers_; }
  bool is_on_one_rank() const { return workers_.size() < comm_.size(); }

 private:
  comm::Comm comm_;
  comm::Comm workers_;
  DMUMPS_STRUC_C data_{};
};

/// A rank's entries by global numbers from 1, as MUMPS wants them; of a symmetric matrix the upper triangle.
struct Entries {
  std::vector<MUMPS_INT> row;
  std::vector<MUMPS_INT> column;
  std::vector<double> value;
};

Entries entries_of(const sparse::DistributedMatrix& matrix, bool symmetric) {
  const std::int64_t first_row = matrix.partition().range(matrix.comm().rank()).begin;
  const sparse::SplitMatrix& parts = matrix.parts();
  if (matrix.global_rows() >= std::numeric_limits<MUMPS_INT>::max())
    throw EnvironmentError("direct: MUMPS cannot count so many rows");
  Entries entries;
  const auto add = [&](const sparse::Csr& part, auto&& local_row, auto&& global_column) {
    for (std::int32_t r = 0; r < part.rows; ++r) {
      const std::int64_t row = first_row + local_row(r);
      for (std::int64_t k = part.row_start[r]; k < part.row_start[r + 1]; ++k) {
        if (!std::isfinite(part.value[k]))
          throw InputError(fmt::format("direct: row {}: an entry is not finite", row));
        const std::int64_t column = global_column(part.column[k]);
        if (symmetric && column < row) continue;
        entries.row.push_back(static_cast<MUMPS_INT>(row + 1));
        entries.column.push_back(static_cast<MUMPS_INT>(column + 1));
        entries.value.push_back(part.value[k]);
      }
    }
  };
  add(
      parts.interior, [](std::int32_t r) { return r; },
      [&](std::int32_t c) -> std::int64_t { return first_row + c; });
  add(
      parts.halo, [&](std::int32_t r) { return parts.halo_rows[r]; },
      [&](std::int32_t c) { return parts.plan.ghosts[c]; });
  return entries;
}

/// Collective. All entries on rank 0: MUMPS permutes large entries to the diagonal only where it gets the
/// matrix in one piece, and without that zero diagonals fill the factors. They are fewer than those of the
/// factors.
Entries gathered(const comm::Comm& comm, const Entries& mine) {
  auto rows = comm.gatherv(std::span<const MUMPS_INT>(mine.row), 0);
  auto columns = comm.gatherv(std::span<const MUMPS_INT>(mine.column), 0);
  auto values = comm.gatherv(std::span<const double>(mine.value), 0);
  return {std::move(rows.values), std::move(columns.values), std::move(values.values)};
}

/// y = A^-1 x up to rounding; right-hand side and solution pass through rank 0.
class Direct final : public sparse::LinearOperator {
 public:
  Direct(std::unique_ptr<Mumps> mumps, const sparse::RowPartition& partition)
      : mumps_(std::move(mumps)), starts_(partition.starts()) {
    const Range mine = partition.range(mumps_->comm().rank());
    size_ = static_cast<std::int32_t>(mine.size());
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    const comm::Comm& comm = mumps_->comm();
    auto all = comm.gatherv(x, 0);
    mumps_->data().rhs = all.values.data();
    mumps_->data().nrhs = 1;
    mumps_->data().lrhs = mumps_->data().n;
    mumps_->run(Job::solve);
    const std::vector<std::int64_t> nothing(starts_.size(), 0);
    const auto mine =
        comm.alltoallv(std::span<const double>(all.values), comm.rank() == 0 ? starts_ : nothing);
    std::ranges::copy(mine.values, y.begin());
  }
  std::int32_t local_size() const override { return size_; }

 private:
  std::unique_ptr<Mumps> mumps_;
  std::vector<std::int64_t> starts_;
  std::int32_t size_;
};

/// Nested dissection, MUMPS' own choice on Debian, saves operations on large matrices, and on small ones
/// takes longer to find than they do.
void choose_ordering(Mumps& mumps) {
  constexpr int approximate_minimum_fill = 2;
  constexpr MUMPS_INT small = 1 << 16;  // rows
  if (mumps.data().n < small) mumps.control(ordering) = approximate_minimum_fill;
}

/// Collective. Where rows have no entry of their own in any permutation, none is asked for.
int analyse_even_if_singular(Mumps& mumps) {
  constexpr int structurally_singular = -6;
  const int code = mumps.run(Job::analyse);
  if (code != structurally_singular) return code;
  mumps.control(column_permutation) = 0;
  return mumps.run(Job::analyse);
}

/// Collective. Throws where the factors would not fit; MUMPS tells a rank's megabytes after its analysis.
void check_memory(Mumps& mumps) {
  const auto node = mumps.comm().split_by_node();
  const auto mega = std::int64_t{1} << 20;
  const std::int64_t needed = node.allreduce(mega * mumps.data().info[14], comm::ReduceOp::sum);
  const std::int64_t available = available_memory();
  comm::agree(mumps.comm(), [&] {
    if (needed > available)
      throw EnvironmentError(
          fmt::format("direct: the factors would take about {} MB on a node that has {} MB left",
                      needed / mega, available / mega));
  });
}

/// What the factorization is expected to take. Products with the matrix are bound by memory; the dense blocks
/// of a factorization do many operations with what they load, the more the larger they are. Fitted to
/// factorizations of 1e8 to 1e11 operations.
double products_of_factors(const Mumps& mumps, std::int64_t nonzeros) {
  const double operations = mumps.data().rinfog[0];
  const double while_a_product_does_one = std::clamp(8 * std::cbrt(operations / 3e10), 2.0, 16.0);
  return operations / (2 * static_cast<double>(nonzeros) * while_a_product_does_one);
}

/// Operations per second of a product of small dense matrices, which no factorization exceeds.
double dense_operations_per_second() {
  constexpr int n = 256;
  constexpr int repetitions = 3;
  const double one = 1;
  const double zero = 0;
  const std::vector<double> a(std::size_t{n} * n, 1.0);
  std::vector<double> c(a.size());
  double seconds = std::numeric_limits<double>::infinity();
  for (int k = 0; k < repetitions; ++k) {
    const Stopwatch watch;
    dgemm_("N", "N", &n, &n, &n, &one, a.data(), &n, a.data(), &n, &zero, c.data(), &n);
    seconds = std::min(seconds, watch.seconds());
  }
  return 2.0 * n * n * n / seconds;
}

/// Collective. Throws where even the operations alone would take longer than there is time. Where any
/// processor would do, this one is not measured.
void check_time(const Mumps& mumps, double seconds_left) {
  constexpr double slowest_rate = 1e8;
  if (mumps.data().rinfog[0] < slowest_rate * seconds_left) return;
  const double rate = mumps.comm().broadcast(
      mumps.workers().allreduce(dense_operations_per_second(), comm::ReduceOp::sum), 0);
  const double seconds = mumps.data().rinfog[0] / rate;
  comm::agree(mumps.comm(), [&] {
    if (seconds > seconds_left)
      throw EnvironmentError(
          fmt::format("direct: {:.3g} operations take {:.3g} s at least; {:.3g} s are left",
                      mumps.data().rinfog[0], seconds, std::max(seconds_left, 0.0)));
  });
}

/// Collective. MUMPS underestimates what pivoting will take; then it is given more, as long as there is time
/// for another attempt like the last.
int factor_with_enough_memory(Mumps& mumps, const PreconditionerOptions& options) {
  constexpr int workspace_too_small = -9;
  constexpr int integers_too_few = -8;
  constexpr int buffer_too_small = -20;
  const Stopwatch watch;
  for (;;) {
    const double before = watch.seconds();
    const int code = mumps.run(Job::factor);
    const bool wants_more =
        code == workspace_too_small || code == integers_too_few || code == buffer_too_small;
    if (!wants_more || mumps.control(more_memory) > most_extra_memory) return code;
    comm::agree(mumps.comm(), [&] {
      const double now = watch.seconds();
      if (now + (now - before) > options.seconds_left || (options.gives_up && options.gives_up()))
        throw EnvironmentError(fmt::format(
            "direct: pivoting fills the factors far beyond what was expected; given up after {:.3g} s", now));
    });
    mumps.control(more_memory) = std::max(50, 2 * mumps.control(more_memory));
  }
}

[[noreturn]] void fail(const Mumps& mumps, const char* phase) {
  throw_error(ErrorKind::environment,
              fmt::format("direct: {} failed: MUMPS' error {} ({})", phase, mumps.info(1), mumps.info(2)),
              true);
}

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  const comm::Comm& comm = matrix.comm();
  const bool symmetric = options.matrix_is_symmetric;
  Entries entries = gathered(comm, comm::agree(comm, [&] { return entries_of(matrix, symmetric); }));
  const bool on_one_rank = options.reproducible || matrix.global_rows() < rows_worth_all_ranks;
  auto mumps = std::make_unique<Mumps>(comm, symmetric, on_one_rank);
  mumps->data().n = static_cast<MUMPS_INT>(matrix.global_rows());
  // Few rows cost nothing, and pivots that are the largest do not grow as Frank matrices make small ones do.
  constexpr std::int64_t few_rows = 1000;
  if (matrix.global_rows() < few_rows) mumps->data().cntl[0] = symmetric ? 0.5 : 1;
  mumps->data().nnz = static_cast<MUMPS_INT8>(entries.value.size());
  mumps->data().irn = entries.row.data();
  mumps->data().jcn = entries.column.data();
  mumps->data().a = entries.value.data();
  choose_ordering(*mumps);
  if (analyse_even_if_singular(*mumps) < 0) fail(*mumps, "the analysis");
  check_memory(*mumps);
  check_time(*mumps, options.seconds_left);
  const auto nonzeros = comm.allreduce(matrix.parts().interior.nonzeros() + matrix.parts().halo.nonzeros(),
                                       comm::ReduceOp::sum);
  const double products = products_of_factors(*mumps, nonzeros);
  comm::agree(comm, [&] {
    const bool is_too_dear = options.may_take && !options.may_take(products);
    if (is_too_dear || (options.gives_up && options.gives_up()))
      throw EnvironmentError("direct: the set-up took longer than it was worth, and was given up");
  });
  if (factor_with_enough_memory(*mumps, options) < 0) fail(*mumps, "the factorization");

  std::vector<std::string> notes{fmt::format("complete {} factors by MUMPS: {:.3g} operations, {} MB",
                                             symmetric ? "symmetric" : "unsymmetric", mumps->data().rinfog[0],
                                             mumps->info(19))};
  if (mumps->info(28) > 0)
    notes.push_back(
        fmt::format("{} pivots are zero: the matrix is singular to working precision", mumps->info(28)));
  BuiltPreconditioner built;
  built.reproducible = mumps->workers().size() == 1;
  built.zero_pivots = mumps->info(28);
  built.op = std::make_unique<Direct>(std::move(mumps), matrix.partition());
  built.notes = std::move(notes);
  return built;
}

}  // namespace

const Preconditioner direct_preconditioner{.name = "direct",
                                           .description = "complete factors by MUMPS: a direct solve",
                                           .symmetric = false,
                                           .make = make};

}  // namespace ayatori::solvers

#endif
