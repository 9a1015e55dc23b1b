#ifdef AYATORI_HAS_MUMPS

#include <dmumps_c.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/mpi/fortran_handle.hpp"
#include "ayatori/solvers/preconditioners/complete/complete_factors.hpp"

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
enum class Job { initialize = -1, terminate = -2, analyse = 1, factor = 2, solve = 3 };
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
class Mumps final : public CompleteFactors {
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
  ~Mumps() override { run(Job::terminate); }

  /// The result's code, the same on all ranks; negative: an error.
  int run(Job job) const {
    data_.job = static_cast<MUMPS_INT>(job);
    if (!is_on_one_rank() || comm_.rank() == 0) dmumps_c(&data_);
    if (is_on_one_rank() && job != Job::solve) {
      comm_.broadcast(std::span<MUMPS_INT>(data_.infog), 0);
      comm_.broadcast(std::span<double>(data_.rinfog), 0);
    }
    return info(1);
  }
  void solve(std::span<double> b) const override {
    data_.rhs = b.data();
    data_.nrhs = 1;
    data_.lrhs = data_.n;
    run(Job::solve);
  }
  int& control(int number) { return data_.icntl[number - 1]; }
  int info(int number) const { return data_.infog[number - 1]; }
  DMUMPS_STRUC_C& data() { return data_; }
  double operations() const { return data_.rinfog[0]; }
  const comm::Comm& comm() const { return comm_; }
  /// Those of comm() that compute.
  const comm::Comm& workers() const { return workers_; }
  bool is_on_one_rank() const { return workers_.size() < comm_.size(); }

 private:
  comm::Comm comm_;
  comm::Comm workers_;
  mutable DMUMPS_STRUC_C data_{};  ///< with what MUMPS is asked to do
};

/// Leaves what a symmetric matrix is given by.
void keep_upper_triangle(GatheredMatrix& matrix) {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < matrix.value.size(); ++k) {
    if (matrix.column[k] < matrix.row[k]) continue;
    matrix.row[kept] = matrix.row[k];
    matrix.column[kept] = matrix.column[k];
    matrix.value[kept++] = matrix.value[k];
  }
  matrix.row.resize(kept);
  matrix.column.resize(kept);
  matrix.value.resize(kept);
}

/// Collective. Where rows have no entry of their own in any permutation, none is asked for.
int analyse(Mumps& mumps, int order) {
  mumps.control(ordering) = order;
  constexpr int structurally_singular = -6;
  const int code = mumps.run(Job::analyse);
  if (code != structurally_singular) return code;
  mumps.control(column_permutation) = 0;
  return mumps.run(Job::analyse);
}

/// What the factorization is expected to take.
double products_of_factors(const Mumps& mumps, std::int64_t nonzeros) {
  return mumps.operations() /
         (2 * static_cast<double>(nonzeros) * operations_of_dense_blocks(mumps.operations()));
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

/// Collective. Of two orderings that of minimum fill is found in a seventh of the time that nested dissection
/// takes, and leaves the factors of plane meshes, networks and saddle points as small. It comes first; where
/// the factorization will take far longer than the search, as for meshes in space, the other one is tried as
/// well, which saves 0.4 of the operations there. Throws where the factorization is too dear.
void order(Mumps& mumps, std::int64_t nonzeros, const PreconditionerOptions& options) {
  constexpr int minimum_fill = 2;
  constexpr int nested_dissection = 5;
  constexpr double products_worth_a_search = 2000;
  if (analyse(mumps, minimum_fill) < 0) fail(mumps, "the analysis");
  const double products = products_of_factors(mumps, nonzeros);
  ask_price(mumps.comm(), products, options);
  if (products < products_worth_a_search) return;
  const double operations = mumps.operations();
  if (analyse(mumps, nested_dissection) < 0 || mumps.operations() > operations) {
    if (analyse(mumps, minimum_fill) < 0) fail(mumps, "the analysis");
  }
}

std::optional<BuiltFactors> make(const comm::Comm& comm, GatheredMatrix& matrix, bool,
                                 const PreconditionerOptions& options) {
  const bool symmetric = matrix.symmetric;
  if (symmetric) keep_upper_triangle(matrix);
  const bool on_one_rank = options.reproducible || matrix.rows < rows_worth_all_ranks;
  auto mumps = std::make_unique<Mumps>(comm, symmetric, on_one_rank);
  mumps->data().n = static_cast<MUMPS_INT>(matrix.rows);
  if (matrix.rows < few_rows) mumps->data().cntl[0] = symmetric ? 0.5 : 1;
  mumps->data().nnz = static_cast<MUMPS_INT8>(matrix.value.size());
  mumps->data().irn = matrix.row.data();
  mumps->data().jcn = matrix.column.data();
  mumps->data().a = matrix.value.data();
  order(*mumps, matrix.nonzeros, options);
  constexpr std::int64_t mega = std::int64_t{1} << 20;
  check_memory(comm, mega * mumps->data().info[14]);  // MUMPS tells a rank's megabytes after its analysis
  const auto rate = [&mumps] {
    return mumps->comm().broadcast(
        mumps->workers().allreduce(dense_operations_per_second(), comm::ReduceOp::sum), 0);
  };
  check_time(comm, mumps->operations(), rate, options.seconds_left);
  if (factor_with_enough_memory(*mumps, options) < 0) fail(*mumps, "the factorization");

  BuiltFactors built;
  built.notes.push_back(fmt::format("complete {} factors by MUMPS: {:.3g} operations, {} MB",
                                    symmetric ? "symmetric" : "unsymmetric", mumps->operations(),
                                    mumps->info(19)));
  if (mumps->info(28) > 0) built.notes.push_back(singular_words(mumps->info(28)));
  built.reproducible = mumps->workers().size() == 1;
  built.zero_pivots = mumps->info(28);
  built.factors = std::move(mumps);
  return built;
}

}  // namespace

const FactorLibrary mumps_factors{.name = "MUMPS", .make = make};

}  // namespace ayatori::solvers

#endif
