#ifdef AYATORI_HAS_KLU

#include <amd.h>
#include <btf.h>
#include <klu.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/complete/complete_factors.hpp"

namespace ayatori::solvers {

namespace {

/// KLU's own 0.001 is for solves without iterations; see least_pivot in mumps.cpp.
constexpr double least_pivot = 1e-6;
/// Times the entries that the analysis has counted. Where pivots off the diagonal fill the factors beyond
/// that, as those of saddle points do, the factorization ends; later where no other library is left.
constexpr double most_fill = 2;
constexpr double most_fill_as_last = 8;
/// While a product with the matrix, bound by memory, does one, KLU does this many: it is bound by latency.
constexpr double operations_while_a_product_does_one = 0.6;
/// What a multifrontal library takes beside its operations, in operations of a product: it assembles a front
/// for each row. Measured: 0.3 s for 250,000 rows of a road network.
constexpr double product_operations_of_front = 2000;
constexpr double operations_per_second = 3e9;  ///< that KLU does not reach
/// A pivot is zero to working precision if it is no more than this share of the largest, of rows that are
/// scaled.
constexpr double zero_pivot = 1e-13;
/// Few rows of a larger condition are left to others, too: their factors leave more digits.
constexpr double most_condition = 1e14;
/// Factors that lose more digits to growth are left to a library that chooses pivots with more care.
constexpr double least_reciprocal_growth = 1e-10;
/// Pivots that were chosen for other values are chosen anew where they make entries grow more than this.
constexpr double least_reciprocal_growth_of_old_pivots = 1e-6;

/// In operations of a product.
double cost_by_columns(double operations) {
  return operations / operations_while_a_product_does_one;
}

/// KLU's functions that touch values: complex ones are pairs of doubles.
template <class Scalar>
struct Routines {
  static constexpr auto factor = klu_factor;
  static constexpr auto refactor = klu_refactor;
  static constexpr auto solve = klu_solve;
  static constexpr auto growth = klu_rgrowth;
  static constexpr auto condition = klu_condest;
  static constexpr auto free_numeric = klu_free_numeric;
  static constexpr double operations = 1;  ///< beside a product of doubles and a sum
  static void solve_transposed(klu_symbolic* symbolic, klu_numeric* numeric, int n, double* b,
                               klu_common* common) {
    klu_tsolve(symbolic, numeric, n, 1, b, common);
  }
};
template <>
struct Routines<Complex> {
  static constexpr auto factor = klu_z_factor;
  static constexpr auto refactor = klu_z_refactor;
  static constexpr auto solve = klu_z_solve;
  static constexpr auto growth = klu_z_rgrowth;
  static constexpr auto condition = klu_z_condest;
  static constexpr auto free_numeric = klu_z_free_numeric;
  static constexpr double operations = 4;
  static void solve_transposed(klu_symbolic* symbolic, klu_numeric* numeric, int n, double* b,
                               klu_common* common) {
    constexpr int is_conjugated = 0;
    klu_z_tsolve(symbolic, numeric, n, 1, b, is_conjugated, common);
  }
};

/// A x = b by KLU (Davis & Palamadai Natarajan 2010) on rank 0: blocks of the block triangular form are
/// factored column by column. Rows of A are its columns, so that A^T is factored. Of a real form the complex
/// matrix is factored.
template <class Scalar>
class Klu final : public CompleteFactors {
  using Of = Routines<Scalar>;
  using Entries = MatrixEntriesOf<Scalar>;
  static constexpr int parts = sizeof(Scalar) / sizeof(double);

 public:
  Klu(const MatrixToFactor& matrix, double fill)
      : comm_(matrix.comm()),
        partition_(matrix.partition()),
        n_(comm_.rank() == 0 ? static_cast<int>(matrix.rows() / parts) : 0) {
    klu_defaults(&common_);
    common_.tol = least_pivot;
    common_.initmem_amd = fill;
    common_.memgrow = std::numeric_limits<double>::max();  // more than there can be: an error
  }
  ~Klu() override {
    Of::free_numeric(&numeric_, &common_);
    klu_free_symbolic(&symbolic_, &common_);
  }

  /// Whether this is the library for the matrix, as far as a minimum degree ordering tells: that is found in
  /// half of the time of the analysis, which would take ten times that for a saddle point.
  bool promises(const Entries& matrix, bool is_symmetric) {
    sort_rows(matrix);
    std::vector<int> order(n_);
    std::array<double, AMD_INFO> info{};
    if (amd_order(n_, start_.data(), column_.data(), order.data(), nullptr, info.data()) < AMD_OK)
      return false;
    const double by_columns = 2 * Of::operations * info[AMD_NMULTSUBS_LU];
    const double by_fronts = is_symmetric ? 2 * Of::operations * info[AMD_NMULTSUBS_LDL] : by_columns;
    cost_by_fronts_ = by_fronts / operations_of_dense_blocks(by_fronts) + product_operations_of_front * n_;
    return cost_by_columns(by_columns) < cost_by_fronts_ || (!is_symmetric && falls_apart());
  }
  bool analyse(const Entries& matrix) {
    if (start_.empty()) sort_rows(matrix);
    ++work_.analyses;
    symbolic_ = klu_analyze(n_, start_.data(), column_.data(), &common_);
    return symbolic_ != nullptr && symbolic_->est_flops >= 0;
  }
  /// False where the matrix is singular, or, where other libraries are left, they may do better.
  bool factor(bool is_last) {
    if (n_ < few_rows) common_.tol = 1;
    ++work_.factorizations;
    Of::free_numeric(&numeric_, &common_);
    numeric_ = Of::factor(start_.data(), column_.data(), values(), symbolic_, &common_);
    if (numeric_ == nullptr || (!is_last && are_doubtful())) return false;
    value_ = {};
    return true;
  }
  /// Takes other values; false where the pattern is another one.
  bool take_values(const Entries& matrix) {
    const auto start = start_;
    const auto column = column_;
    sort_rows(matrix);
    return start == start_ && column == column_;
  }
  /// Keeps the pivots that were chosen for other values. False where that does not do; then factor() chooses
  /// them.
  bool factor_with_old_pivots() {
    if (numeric_ == nullptr) return false;
    ++work_.factorizations;
    if (Of::refactor(start_.data(), column_.data(), values(), symbolic_, numeric_, &common_) == 0)
      return false;
    Of::growth(start_.data(), column_.data(), values(), symbolic_, numeric_, &common_);
    if (zero_pivots() > 0 || !(common_.rgrowth > least_reciprocal_growth_of_old_pivots)) return false;
    value_ = {};
    return true;
  }
  void solve(std::span<const double> x, std::span<double> y) const override {
    std::ranges::copy(x, y.begin());
    solve_on_rank_zero<double>(comm_, partition_, y, [this](std::span<double> b) {
      auto common = common_;
      Of::solve_transposed(symbolic_, numeric_, n_, b.data(), &common);
    });
  }
  void solve_transposed(std::span<const double> x, std::span<double> y) const override {
    solve_adjoint_by_transpose<Scalar>(x, y, [&] {
      solve_on_rank_zero<double>(comm_, partition_, y, [this](std::span<double> b) {
        auto common = common_;
        Of::solve(symbolic_, numeric_, n_, 1, b.data(), &common);
      });
    });
  }
  Work work() const override { return work_; }

  std::int64_t zero_pivots() const {
    const std::span pivots(static_cast<const Scalar*>(numeric_->Udiag), n_);
    double largest = 0;
    for (const Scalar pivot : pivots) largest = std::max(largest, std::abs(pivot));
    return std::ranges::count_if(pivots,
                                 [&](Scalar pivot) { return std::abs(pivot) <= zero_pivot * largest; });
  }
  bool is_cheaper() const { return cost_by_columns(operations()) < cost_by_fronts_; }
  double operations() const { return Of::operations * symbolic_->est_flops; }
  double entries() const { return symbolic_->lnz + symbolic_->unz; }
  int blocks() const { return symbolic_->nblocks; }

 private:
  bool are_doubtful() {
    Of::growth(start_.data(), column_.data(), values(), symbolic_, numeric_, &common_);
    if (n_ < few_rows) Of::condition(start_.data(), values(), symbolic_, numeric_, &common_);
    return zero_pivots() > 0 || !(common_.rgrowth > least_reciprocal_growth) ||
           !(common_.condest < most_condition);
  }
  /// Into blocks of a triangular form, of which none has more than half of the rows.
  bool falls_apart() {
    constexpr double most_work = 10;  // times the entries, in search of a diagonal
    std::vector<int> row(n_);
    std::vector<int> column(n_);
    std::vector<int> block(n_ + 1);
    std::vector<int> work(5 * static_cast<std::size_t>(n_));
    double done = 0;
    int matched = 0;
    const int blocks = btf_order(n_, start_.data(), column_.data(), most_work, &done, row.data(),
                                 column.data(), block.data(), &matched, work.data());
    int largest = 0;
    for (int k = 0; k < blocks; ++k) largest = std::max(largest, block[k + 1] - block[k]);
    return matched == n_ && largest <= n_ / 2;
  }
  double* values() { return reinterpret_cast<double*>(value_.data()); }
  void sort_rows(const Entries& matrix) {
    start_.assign(n_ + 1, 0);
    for (const int row : matrix.row) ++start_[row];
    for (int i = 0; i < n_; ++i) start_[i + 1] += start_[i];
    column_.resize(matrix.value.size());
    value_.resize(matrix.value.size());
    auto next = start_;
    for (std::size_t k = 0; k < matrix.value.size(); ++k) {
      const int to = next[matrix.row[k] - 1]++;
      column_[to] = matrix.column[k] - 1;
      value_[to] = matrix.value[k];
    }
  }

  comm::Comm comm_;
  sparse::RowPartition partition_;
  int n_;  ///< on rank 0
  Work work_;
  std::vector<int> start_;
  std::vector<int> column_;
  std::vector<Scalar> value_;
  klu_common common_{};
  double cost_by_fronts_ = 0;  ///< in operations of a product
  klu_symbolic* symbolic_ = nullptr;
  klu_numeric* numeric_ = nullptr;
};

/// What rank 0 has found; none of it where KLU is not the library for the matrix.
struct Promise {
  double operations = 0;
  double entries = 0;
  double blocks = 0;
};

[[noreturn]] void fail() {
  throw_error(ErrorKind::environment,
              "direct: the factorization failed: the matrix is singular, or pivots fill its factors", true);
}

/// Collective. Throws where the factorization is too dear.
template <class Scalar>
void check(const MatrixToFactor& matrix, const Promise& promise, const PreconditionerOptions& options) {
  const comm::Comm& comm = matrix.comm();
  constexpr double bytes_of_entry = sizeof(Scalar) + sizeof(int);
  check_memory(comm, comm.rank() == 0 ? static_cast<std::int64_t>(bytes_of_entry * promise.entries) : 0);
  check_time(
      comm, promise.operations, [] { return operations_per_second; }, options.seconds_left);
  ask_price(comm, cost_by_columns(promise.operations) / (2 * static_cast<double>(matrix.nonzeros())),
            options);
}

/// Collective. Of factors that are done.
template <class Scalar>
BuiltFactors report(const comm::Comm& comm, std::unique_ptr<Klu<Scalar>> klu, const Promise& promise,
                    const char* more) {
  BuiltFactors built;
  built.zero_pivots = comm.broadcast(comm.rank() == 0 ? klu->zero_pivots() : 0, 0);
  built.notes.push_back(
      fmt::format("complete {}factors by KLU: {:.3g} operations, {:.3g} entries{}{}",
                  std::is_same_v<Scalar, Complex> ? "complex " : "", promise.operations, promise.entries,
                  promise.blocks > 1 ? fmt::format(" in {} blocks", promise.blocks) : "", more));
  if (built.zero_pivots > 0) built.notes.push_back(singular_words(built.zero_pivots));
  built.factors = std::move(klu);
  return built;
}

template <class Scalar>
Promise promise_of(const Klu<Scalar>& klu) {
  return {klu.operations(), klu.entries(), 1.0 * klu.blocks()};
}

/// Entries that rank 0 has gathered.
template <class Scalar>
decltype(auto) entries_of(const MatrixEntries& gathered) {
  if constexpr (std::is_same_v<Scalar, Complex>)
    return complex_entries(gathered);
  else
    return (gathered);
}

/// Collective. Nothing where the factors are of another pattern, or too doubtful with other values.
template <class Scalar>
std::optional<BuiltFactors> factor_again(MatrixToFactor& matrix, std::unique_ptr<Klu<Scalar>> klu,
                                         bool is_last, const PreconditionerOptions& options) {
  const comm::Comm& comm = matrix.comm();
  const MatrixEntries& gathered = matrix.gathered();
  Promise promise;
  const bool is_same = comm::agree(comm, [&] {
    if (comm.rank() != 0) return true;
    if (!klu->take_values(entries_of<Scalar>(gathered))) return false;
    promise = promise_of(*klu);
    return true;
  });
  if (comm.any(!is_same)) return std::nullopt;
  promise = comm.broadcast(promise, 0);
  ask_price(comm, cost_by_columns(promise.operations) / (2 * static_cast<double>(matrix.nonzeros())),
            options);
  if (comm.any(comm.rank() == 0 && klu->factor_with_old_pivots()))
    return report(comm, std::move(klu), promise, ", order and pivots as before");
  if (!comm.any(comm.rank() == 0 && klu->factor(is_last))) return std::nullopt;
  return report(comm, std::move(klu), promise, ", order as before");
}

/// Collective. `is_symmetric`: equal to its transpose, as other libraries make use of.
template <class Scalar>
std::optional<BuiltFactors> make_of(MatrixToFactor& matrix, bool is_symmetric, bool is_last,
                                    const PreconditionerOptions& options,
                                    std::unique_ptr<CompleteFactors> earlier) {
  const comm::Comm& comm = matrix.comm();
  if (auto* klu = dynamic_cast<Klu<Scalar>*>(earlier.get())) {
    static_cast<void>(earlier.release());
    auto again = factor_again(matrix, std::unique_ptr<Klu<Scalar>>(klu), is_last, options);
    if (again) return again;
  }

  auto klu = std::make_unique<Klu<Scalar>>(matrix, is_last ? most_fill_as_last : most_fill);
  const MatrixEntries& gathered = matrix.gathered();
  Promise promise;
  comm::agree(comm, [&] {
    if (comm.rank() != 0) return;
    const auto& entries = entries_of<Scalar>(gathered);
    if (!is_last && !klu->promises(entries, is_symmetric)) return;
    if (klu->analyse(entries) && (is_last || klu->is_cheaper())) promise = promise_of(*klu);
  });
  promise = comm.broadcast(promise, 0);
  if (!is_last && promise.blocks == 0) return std::nullopt;
  if (promise.blocks == 0) fail();
  check<Scalar>(matrix, promise, options);
  if (!comm.any(comm.rank() == 0 && klu->factor(is_last))) {
    if (is_last) fail();
    return std::nullopt;
  }
  return report(comm, std::move(klu), promise, "");
}

std::optional<BuiltFactors> make(MatrixToFactor& matrix, bool is_last, const PreconditionerOptions& options,
                                 std::unique_ptr<CompleteFactors> earlier) {
  const bool is_symmetric = equals_transpose(matrix, options);
  // Pivots of two rows are what the library of LDL^T factors has more to offer.
  const bool wants_symmetric_pivots = is_symmetric && !matrix.has_useful_diagonal();
  const bool is_too_large =
      matrix.nonzeros() > std::numeric_limits<int>::max() || (!is_last && !matrix.is_small());
  if (!is_last && (wants_symmetric_pivots || is_too_large)) return std::nullopt;
  if (is_too_large) fail();
  if (options.matrix_is_complex)
    return make_of<Complex>(matrix, is_symmetric, is_last, options, std::move(earlier));
  return make_of<double>(matrix, is_symmetric, is_last, options, std::move(earlier));
}

}  // namespace

const FactorLibrary klu_factors{.name = "KLU", .make = make};

}  // namespace ayatori::solvers

#endif
