#ifdef AYATORI_HAS_MUMPS

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/complete/complete_factors.hpp"
#include "ayatori/solvers/preconditioners/complete/equilibration.hpp"
#include "ayatori/solvers/preconditioners/complete/mumps_instance.hpp"
#include "ayatori/solvers/preconditioners/complete/nested_dissection.hpp"

extern "C" {
void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
}

namespace ayatori::solvers {

namespace {

using mumps::Job;

/// On smaller matrices several ranks save less time in the factorization than they lose in the solves.
constexpr std::int64_t rows_worth_all_ranks = 1 << 14;
/// A pivot is accepted if it is this share of its column's largest entry. Rejected ones are delayed and fill
/// the factors; what accepted ones lose, the iterations around the factors correct, as each sees the
/// residual. MUMPS' own 0.01 is for solves without iterations: c-62's factors do not end with it, and take
/// a second so.
constexpr double least_pivot = 1e-6;
/// In single precision a growth of a million leaves nothing.
constexpr double least_pivot_of_floats = 1e-4;
constexpr int most_extra_memory = 2000;  ///< percent of the estimate, before the factorization is given up

/// What an instance is made for: factors of the same plan may take other values.
struct Plan {
  bool symmetric = false;
  bool on_one_rank = false;
  bool spread_matrix = false;  ///< each rank gives its rows
  bool is_complex = false;     ///< factors of the complex matrix whose real form is given
  double low_rank = 0;
  std::uint64_t pattern = 0;  ///< pattern of the entries that this rank gives
  bool operator==(const Plan&) const = default;
};

/// A x = b by the complete factors of MUMPS, in doubles, floats or complex numbers. Floats are of a matrix
/// that is scaled, and so are their right-hand sides, each to a largest element of 1.
template <class Scalar>
class MumpsFactors final : public CompleteFactors {
  static constexpr bool is_float = std::is_same_v<Scalar, float>;
  static constexpr bool is_complex = std::is_same_v<Scalar, Complex>;

 public:
  /// As they are handed over.
  using Entries = std::conditional_t<is_complex, ComplexEntries, MatrixEntries>;

  MumpsFactors(const MatrixToFactor& matrix, const Plan& plan)
      : plan_(plan),
        partition_(is_complex ? sparse::of_elements(matrix.partition()) : matrix.partition()),
        mumps_(matrix.comm(), plan.symmetric, plan.on_one_rank) {
    mumps_.data().n = static_cast<MUMPS_INT>(partition_.rows());
    constexpr int threshold = 1;
    using Real = typename mumps::Arithmetic<Scalar>::Real;
    mumps_.real_control(threshold) = static_cast<Real>(is_float ? least_pivot_of_floats : least_pivot);
    if (matrix.rows() < few_rows) mumps_.real_control(threshold) = plan.symmetric ? 0.5 : 1;
    if (plan.spread_matrix) mumps_.control(mumps::matrix_distribution) = 3;
    if (plan.low_rank > 0) {
      constexpr int in_factors_and_solves = 2;
      constexpr int accuracy = 7;
      mumps_.control(mumps::low_rank) = in_factors_and_solves;
      mumps_.real_control(accuracy) = static_cast<Real>(plan.low_rank);
    }
  }

  /// Collective. Hands the entries over until the factorization is done.
  void take(const MatrixToFactor& matrix, Entries entries) {
    entries_ = std::move(entries);
    if constexpr (is_float) {
      const auto equilibration = equilibrate(matrix);
      values_ = scaled(entries_, equilibration);
      entries_.value = {};
      const Range own = partition_.range(matrix.comm().rank());
      row_scale_.assign(equilibration.row.begin() + own.begin, equilibration.row.begin() + own.end);
      column_scale_.assign(equilibration.column.begin() + own.begin, equilibration.column.begin() + own.end);
    } else {
      values_ = std::move(entries_.value);
    }
    auto& data = mumps_.data();
    if (plan_.spread_matrix) {
      data.nnz_loc = static_cast<MUMPS_INT8>(values_.size());
      data.irn_loc = entries_.row.data();
      data.jcn_loc = entries_.column.data();
      data.a_loc = mumps::as_numbers(values_.data());
    } else {
      data.nnz = static_cast<MUMPS_INT8>(values_.size());
      data.irn = entries_.row.data();
      data.jcn = entries_.column.data();
      data.a = mumps::as_numbers(values_.data());
    }
  }
  /// Collective. Entries of the longest row, or of a row and its column on average; as far as one rank knows.
  std::int64_t longest_row() const {
    std::vector<std::int64_t> entries_of(partition_.rows() + 1, 0);
    for (const int row : entries_.row) ++entries_of[row];
    for (const int column : entries_.column) ++entries_of[column];
    const std::int64_t longest = *std::ranges::max_element(entries_of) / (plan_.symmetric ? 1 : 2);
    return mumps_.comm().allreduce(longest, comm::ReduceOp::max);
  }
  /// Collective. Looks for an order of the rows itself; false where there is none.
  bool find_dissection() {
    const comm::Comm& comm = mumps_.comm();
    std::vector<int> row;
    std::vector<int> column;
    if (plan_.spread_matrix) {
      row = std::move(comm.gatherv(std::span<const int>(entries_.row), 0).values);
      column = std::move(comm.gatherv(std::span<const int>(entries_.column), 0).values);
    }
    dissection_ = comm::agree(comm, [&] {
      if (comm.rank() > 0) return std::vector<int>{};
      return plan_.spread_matrix ? nested_dissection(partition_.rows(), row, column)
                                 : nested_dissection(partition_.rows(), entries_.row, entries_.column);
    });
    mumps_.data().perm_in = dissection_.data();
    return comm.any(!dissection_.empty());
  }
  /// Collective. Where rows have no entry of their own in any permutation, none is asked for.
  int analyse(int order) {
    constexpr int structurally_singular = -6;
    mumps_.control(mumps::ordering) = order;
    ++work_.analyses;
    const int code = mumps_.run(Job::analyse);
    if (code != structurally_singular) return code;
    mumps_.control(mumps::column_permutation) = 0;
    return mumps_.run(Job::analyse);
  }
  /// Collective.
  int factor() {
    ++work_.factorizations;
    return mumps_.run(Job::factor);
  }
  /// Collective. When factor() has done its work.
  void finish() {
    entries_ = {};
    values_ = {};
    dissection_ = {};
    if (is_float) buffer_.resize(partition_.range(mumps_.comm().rank()).size());
    spread_.reset();
    if (!plan_.on_one_rank && mumps_.comm().size() > 1) spread_.emplace(mumps_, partition_);
  }

  void solve(std::span<const double> x, std::span<double> y) const override {
    solve_with(x, y, row_scale_, column_scale_);
  }
  void solve_transposed(std::span<const double> x, std::span<double> y) const override {
    mumps_.control(mumps::which_system) = 0;
    if constexpr (is_float)
      solve_with(x, y, column_scale_, row_scale_);
    else
      solve_adjoint_by_transpose<Scalar>(x, y, [&] { solve_in_place(as<Scalar>(y)); });
    mumps_.control(mumps::which_system) = 1;
  }
  Work work() const override { return work_; }

  const Plan& plan() const { return plan_; }
  mumps::Instance<Scalar>& instance() { return mumps_; }
  const mumps::Instance<Scalar>& instance() const { return mumps_; }

 private:
  /// Collective. `row` and `column`: the scales of the system that is solved, of floats.
  void solve_with(std::span<const double> x, std::span<double> y, std::span<const std::int32_t> row,
                  std::span<const std::int32_t> column) const {
    if constexpr (!is_float) {
      std::ranges::copy(x, y.begin());
      solve_in_place(as<Scalar>(y));
    } else {
      const int exponent = scale_in(x, row);
      solve_in_place(buffer_);
      for (std::size_t i = 0; i < y.size(); ++i)
        y[i] = std::ldexp(static_cast<double>(buffer_[i]), column[i] + exponent);
    }
  }
  /// Collective. The right-hand side of the scaled system, with a largest element near 1; the exponent of 2
  /// that gives its solution the right size.
  int scale_in(std::span<const double> x, std::span<const std::int32_t> row) const {
    constexpr int of_zero = std::numeric_limits<int>::min() / 2;
    int largest = of_zero;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] != 0 && std::isfinite(x[i])) largest = std::max(largest, std::ilogb(x[i]) + row[i]);
    largest = mumps_.comm().allreduce(largest, comm::ReduceOp::max);
    if (largest == of_zero) largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      buffer_[i] = static_cast<float>(std::ldexp(x[i], row[i] - largest));
    return largest;
  }
  void solve_in_place(std::span<Scalar> b) const {
    if (spread_) return spread_->solve(b);
    solve_on_rank_zero<Scalar>(mumps_.comm(), partition_, b, [this](std::span<Scalar> all) {
      auto& data = mumps_.data();
      data.rhs = mumps::as_numbers(all.data());
      data.nrhs = 1;
      data.lrhs = data.n;
      mumps_.run(Job::solve);
    });
  }

  Plan plan_;
  sparse::RowPartition partition_;
  mutable mumps::Instance<Scalar> mumps_;  ///< with what it is asked to do
  mutable std::optional<mumps::SpreadSolves<Scalar>> spread_;
  Entries entries_;
  std::vector<Scalar> values_;
  std::vector<int> dissection_;          ///< on rank 0, while MUMPS may ask for it
  std::vector<std::int32_t> row_scale_;  ///< exponents of 2 of this rank's rows, of floats
  std::vector<std::int32_t> column_scale_;
  mutable std::vector<Scalar> buffer_;  ///< buffer for floats
  Work work_;
};

/// What the factorization is expected to take.
template <class Scalar>
double products_of_factors(const MumpsFactors<Scalar>& factors, std::int64_t nonzeros) {
  const double operations = factors.instance().operations();
  return operations / (2 * static_cast<double>(nonzeros) * operations_of_dense_blocks(operations));
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
template <class Scalar>
int factor_with_enough_memory(MumpsFactors<Scalar>& factors, const PreconditionerOptions& options) {
  constexpr int workspace_too_small = -9;
  constexpr int integers_too_few = -8;
  constexpr int buffer_too_small = -20;
  auto& mumps = factors.instance();
  const Stopwatch watch;
  for (;;) {
    const double before = watch.seconds();
    const int code = factors.factor();
    const bool wants_more =
        code == workspace_too_small || code == integers_too_few || code == buffer_too_small;
    if (!wants_more || mumps.control(mumps::more_memory) > most_extra_memory) return code;
    comm::agree(mumps.comm(), [&] {
      const double now = watch.seconds();
      if (now + (now - before) > options.seconds_left || (options.gives_up && options.gives_up()))
        throw EnvironmentError(fmt::format(
            "direct: pivoting fills the factors far beyond what was expected; given up after {:.3g} s", now));
    });
    mumps.control(mumps::more_memory) = std::max(50, 2 * mumps.control(mumps::more_memory));
  }
}

template <class Scalar>
[[noreturn]] void fail(const MumpsFactors<Scalar>& factors, const char* phase) {
  const auto& mumps = factors.instance();
  throw_error(ErrorKind::environment,
              fmt::format("direct: {} failed: MUMPS' error {} ({})", phase, mumps.info(1), mumps.info(2)),
              true);
}

/// Collective. Of two orderings one that MUMPS finds in a fifth of the time of a nested dissection comes
/// first: minimum fill, or, where a row is so long that its updates would take all the time, minimum degree
/// without such rows. Where the factorization will take far longer than the search, as for meshes in space,
/// saddle points and graphs with hubs, the dissection is tried as well; it saves 0.4 of the operations and
/// more. MUMPS permutes the columns of some unsymmetric matrices to large pivots first, for which ours would
/// not be right; there it looks for one of its own, if that is not too dear either. Throws where the
/// factorization is too dear.
template <class Scalar>
void order(MumpsFactors<Scalar>& factors, const MatrixToFactor& matrix,
           const PreconditionerOptions& options) {
  constexpr int given = 1;
  constexpr int minimum_fill = 2;
  constexpr int dissection_of_library = 5;
  constexpr int minimum_degree_beside_long_rows = 6;
  constexpr int permutation_done = 23;
  // The search takes as long for a row as 100,000 operations, in graphs of 5 to 14 entries a row.
  constexpr double operations_of_row_worth_a_search = 500000;
  constexpr double most_saved = 8;  // times, by a search: before it, nothing is refused that this might save
  const auto rows = static_cast<double>(matrix.rows());
  // Amestoy, Davis & Duff 2004, Algorithm 837, calls these rows dense.
  const bool has_long_rows = static_cast<double>(factors.longest_row()) > 10 * std::sqrt(rows);
  const int quick = has_long_rows ? minimum_degree_beside_long_rows : minimum_fill;
  if (factors.analyse(quick) < 0) fail(factors, "the analysis");
  const double operations = factors.instance().operations();
  const double price = products_of_factors(factors, matrix.nonzeros());
  const bool is_worth_a_search = operations >= operations_of_row_worth_a_search * rows;
  const bool may_be_given =
      is_worth_a_search && (factors.plan().symmetric || factors.instance().info(permutation_done) == 0);
  ask_price(matrix.comm(), may_be_given ? price / most_saved : price, options);
  if (!is_worth_a_search) return;
  const bool is_given = may_be_given && factors.find_dissection();
  if (factors.analyse(is_given ? given : dissection_of_library) < 0 ||
      factors.instance().operations() > operations) {
    if (factors.analyse(quick) < 0) fail(factors, "the analysis");
  }
  ask_price(matrix.comm(), products_of_factors(factors, matrix.nonzeros()), options);
}

/// Collective. Throws where memory or time are not enough for what the analysis has found.
template <class Scalar>
void check_needs(MumpsFactors<Scalar>& factors, const MatrixToFactor& matrix,
                 const PreconditionerOptions& options) {
  constexpr std::int64_t mega = std::int64_t{1} << 20;
  constexpr int megabytes = 15;  // number of the figure for this rank, after the analysis
  constexpr int megabytes_of_low_rank = 30;
  auto& mumps = factors.instance();
  check_memory(matrix.comm(),
               mega * mumps.own_info(options.low_rank > 0 ? megabytes_of_low_rank : megabytes));
  const auto rate = [&mumps] {
    const double all = mumps.workers().allreduce(dense_operations_per_second(), comm::ReduceOp::sum);
    return mumps.comm().broadcast((std::is_same_v<Scalar, float> ? 2 : 1) * all, 0);
  };
  // How many operations low rank saves is seen when it is done.
  if (options.low_rank == 0) check_time(matrix.comm(), mumps.operations(), rate, options.seconds_left);
}

/// Collective. The matrix as it is given to MUMPS. On one rank a permutation to large pivots is looked for,
/// and the orderings leave some 10 % fewer operations; large matrices that can do without stay spread.
template <class Scalar>
MumpsFactors<Scalar>::Entries entries_for(MatrixToFactor& matrix, Plan& plan) {
  plan.spread_matrix = !plan.on_one_rank && !matrix.is_small() && matrix.has_useful_diagonal();
  if (plan.spread_matrix) matrix.drop_gathered();
  MatrixEntries gathered = plan.spread_matrix ? MatrixEntries{} : matrix.take_gathered();
  return comm::agree(matrix.comm(), [&] {
    MatrixEntries given = plan.spread_matrix ? matrix.own() : std::move(gathered);
    typename MumpsFactors<Scalar>::Entries entries;
    if constexpr (std::is_same_v<Scalar, Complex>)
      entries = complex_entries(given);
    else
      entries = std::move(given);
    if (plan.symmetric) keep_upper_triangle(entries);
    plan.pattern = fingerprint_of_pattern(entries.row, entries.column);
    return entries;
  });
}

template <class Scalar>
BuiltFactors report(std::unique_ptr<MumpsFactors<Scalar>> factors, const char* more) {
  constexpr bool is_single = std::is_same_v<Scalar, float>;
  const auto& mumps = factors->instance();
  const Plan& plan = factors->plan();
  const int zero_pivots = mumps.info(28);
  const int megabytes = mumps.info(19);
  BuiltFactors built;
  built.notes.push_back(
      fmt::format("complete {}{} factors by MUMPS: {:.3g} operations, {} MB{}{}{}",
                  plan.is_complex ? "complex " : "", plan.symmetric ? "symmetric" : "unsymmetric",
                  mumps.operations(), megabytes, is_single ? ", in single precision" : "",
                  plan.low_rank > 0 ? fmt::format(", low rank to {:.1g}", plan.low_rank) : "", more));
  if (zero_pivots > 0) built.notes.push_back(singular_words(zero_pivots));
  built.reproducible = mumps.workers().size() == 1;
  built.reduced_accuracy = is_single || plan.low_rank > 0;
  built.zero_pivots = zero_pivots;
  built.factors = std::move(factors);
  return built;
}

/// Collective. Earlier factors become those of the matrix now, in their order. Nothing where they were made
/// for another plan, or where that fails.
template <class Scalar>
std::optional<BuiltFactors> factor_again(const MatrixToFactor& matrix, const Plan& plan,
                                         const typename MumpsFactors<Scalar>::Entries& entries,
                                         const PreconditionerOptions& options,
                                         std::unique_ptr<CompleteFactors> earlier) {
  const auto* old = dynamic_cast<MumpsFactors<Scalar>*>(earlier.get());
  if (matrix.comm().any(old == nullptr || !(old->plan() == plan))) return std::nullopt;
  std::unique_ptr<MumpsFactors<Scalar>> factors(static_cast<MumpsFactors<Scalar>*>(earlier.release()));
  ask_price(matrix.comm(), products_of_factors(*factors, matrix.nonzeros()), options);
  factors->take(matrix, entries);
  if (factor_with_enough_memory(*factors, options) < 0 || factors->instance().info(28) > 0)
    return std::nullopt;
  factors->finish();
  return report(std::move(factors), ", order as before");
}

/// Collective. Nothing where single precision is not enough for a factorization.
template <class Scalar>
std::optional<BuiltFactors> factor(const MatrixToFactor& matrix, const Plan& plan,
                                   typename MumpsFactors<Scalar>::Entries entries,
                                   const PreconditionerOptions& options) {
  constexpr bool is_single = std::is_same_v<Scalar, float>;
  auto factors = std::make_unique<MumpsFactors<Scalar>>(matrix, plan);
  factors->take(matrix, std::move(entries));
  order(*factors, matrix, options);
  check_needs(*factors, matrix, options);
  const bool failed = factor_with_enough_memory(*factors, options) < 0;
  if (is_single && (failed || factors->instance().info(28) > 0)) return std::nullopt;
  if (failed) fail(*factors, "the factorization");
  factors->finish();
  return report(std::move(factors), "");
}

/// Collective. From earlier factors where they serve; nothing where single precision is not enough.
template <class Scalar>
std::optional<BuiltFactors> make_of(MatrixToFactor& matrix, Plan plan, const PreconditionerOptions& options,
                                    std::unique_ptr<CompleteFactors> earlier) {
  auto entries = entries_for<Scalar>(matrix, plan);
  if (earlier) {
    auto again = factor_again<Scalar>(matrix, plan, entries, options, std::move(earlier));
    if (again) return again;
  }
  return factor<Scalar>(matrix, plan, std::move(entries), options);
}

std::optional<BuiltFactors> make(MatrixToFactor& matrix, bool, const PreconditionerOptions& options,
                                 std::unique_ptr<CompleteFactors> earlier) {
  if (mumps::is_sequential && !matrix.is_small())
    throw_error(
        ErrorKind::environment,
        fmt::format("direct: this build's MUMPS works on one rank, which is not asked to hold {} entries: "
                    "fewer ranks, or a build with MPI",
                    matrix.nonzeros()),
        true);
  const Plan plan{
      .symmetric = equals_transpose(matrix, options),
      .on_one_rank = options.reproducible || matrix.rows() < rows_worth_all_ranks || mumps::is_sequential,
      .is_complex = options.matrix_is_complex,
      .low_rank = options.low_rank};
  if (plan.is_complex) return make_of<Complex>(matrix, plan, options, std::move(earlier));
  if (options.factor_precision == "single") {
    if (auto built = make_of<float>(matrix, plan, options, std::move(earlier))) return built;
    auto built = make_of<double>(matrix, plan, options, nullptr);
    built->notes.insert(built->notes.begin(),
                        "single precision finds zero pivots, or fails: complete factors in double precision");
    return built;
  }
  return make_of<double>(matrix, plan, options, std::move(earlier));
}

}  // namespace

const FactorLibrary mumps_factors{.name = "MUMPS", .make = make};

}  // namespace ayatori::solvers

#endif
