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
/// While a product with the matrix, bound by memory, does one, KLU does so many: it is bound by latency.
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

/// A x = b by KLU (Davis & Palamadai Natarajan 2010) on rank 0: blocks of the block triangular form are
/// factored column by column. Rows of A are its columns, so that A^T is factored.
class Klu final : public CompleteFactors {
 public:
  Klu(const MatrixToFactor& matrix, double fill)
      : comm_(matrix.comm()),
        partition_(matrix.partition()),
        n_(comm_.rank() == 0 ? static_cast<int>(matrix.rows()) : 0) {
    klu_defaults(&common_);
    common_.tol = least_pivot;
    common_.initmem_amd = fill;
    common_.memgrow = std::numeric_limits<double>::max();  // more than there can be: an error
  }
  ~Klu() override {
    klu_free_numeric(&numeric_, &common_);
    klu_free_symbolic(&symbolic_, &common_);
  }

  /// Whether this is the library for the matrix, as far as a minimum degree ordering tells: that is found in
  /// half of the time of the analysis, which would take ten times that for a saddle point.
  bool promises(const MatrixEntries& matrix, bool is_symmetric) {
    sort_rows(matrix);
    std::vector<int> order(n_);
    std::array<double, AMD_INFO> info{};
    if (amd_order(n_, start_.data(), column_.data(), order.data(), nullptr, info.data()) < AMD_OK)
      return false;
    const double by_columns = 2 * info[AMD_NMULTSUBS_LU];
    const double by_fronts = is_symmetric ? 2 * info[AMD_NMULTSUBS_LDL] : by_columns;
    cost_by_fronts_ = by_fronts / operations_of_dense_blocks(by_fronts) + product_operations_of_front * n_;
    return cost_by_columns(by_columns) < cost_by_fronts_ || (!is_symmetric && falls_apart());
  }
  bool analyse(const MatrixEntries& matrix) {
    if (start_.empty()) sort_rows(matrix);
    ++work_.analyses;
    symbolic_ = klu_analyze(n_, start_.data(), column_.data(), &common_);
    return symbolic_ != nullptr && symbolic_->est_flops >= 0;
  }
  /// False where the matrix is singular, or, where other libraries are left, they may do better.
  bool factor(bool is_last) {
    if (n_ < few_rows) common_.tol = 1;
    ++work_.factorizations;
    klu_free_numeric(&numeric_, &common_);
    numeric_ = klu_factor(start_.data(), column_.data(), value_.data(), symbolic_, &common_);
    if (numeric_ == nullptr || (!is_last && are_doubtful())) return false;
    value_ = {};
    return true;
  }
  /// Takes other values; false where the pattern is another one.
  bool take_values(const MatrixEntries& matrix) {
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
    if (klu_refactor(start_.data(), column_.data(), value_.data(), symbolic_, numeric_, &common_) == 0)
      return false;
    klu_rgrowth(start_.data(), column_.data(), value_.data(), symbolic_, numeric_, &common_);
    if (zero_pivots() > 0 || !(common_.rgrowth > least_reciprocal_growth_of_old_pivots)) return false;
    value_ = {};
    return true;
  }
  void solve(std::span<const double> x, std::span<double> y) const override {
    std::ranges::copy(x, y.begin());
    solve_on_rank_zero<double>(comm_, partition_, y, [this](std::span<double> b) {
      auto common = common_;
      klu_tsolve(symbolic_, numeric_, n_, 1, b.data(), &common);
    });
  }
  void solve_transposed(std::span<const double> x, std::span<double> y) const override {
    std::ranges::copy(x, y.begin());
    solve_on_rank_zero<double>(comm_, partition_, y, [this](std::span<double> b) {
      auto common = common_;
      klu_solve(symbolic_, numeric_, n_, 1, b.data(), &common);
    });
  }
  Work work() const override { return work_; }

  std::int64_t zero_pivots() const {
    const std::span pivots(static_cast<const double*>(numeric_->Udiag), n_);
    double largest = 0;
    for (const double pivot : pivots) largest = std::max(largest, std::abs(pivot));
    return std::ranges::count_if(pivots,
                                 [&](double pivot) { return std::abs(pivot) <= zero_pivot * largest; });
  }
  bool is_cheaper() const { return cost_by_columns(operations()) < cost_by_fronts_; }
  double operations() const { return symbolic_->est_flops; }
  double entries() const { return symbolic_->lnz + symbolic_->unz; }
  int blocks() const { return symbolic_->nblocks; }

 private:
  bool are_doubtful() {
    klu_rgrowth(start_.data(), column_.data(), value_.data(), symbolic_, numeric_, &common_);
    if (n_ < few_rows) klu_condest(start_.data(), value_.data(), symbolic_, numeric_, &common_);
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
  void sort_rows(const MatrixEntries& matrix) {
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
  std::vector<double> value_;
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
void check(const MatrixToFactor& matrix, const Promise& promise, const PreconditionerOptions& options) {
  const comm::Comm& comm = matrix.comm();
  constexpr double bytes_of_entry = sizeof(double) + sizeof(int);
  check_memory(comm, comm.rank() == 0 ? static_cast<std::int64_t>(bytes_of_entry * promise.entries) : 0);
  check_time(
      comm, promise.operations, [] { return operations_per_second; }, options.seconds_left);
  ask_price(comm, cost_by_columns(promise.operations) / (2 * static_cast<double>(matrix.nonzeros())),
            options);
}

/// Collective. Of factors that are done.
BuiltFactors report(const comm::Comm& comm, std::unique_ptr<Klu> klu, const Promise& promise,
                    const char* more) {
  BuiltFactors built;
  built.zero_pivots = comm.broadcast(comm.rank() == 0 ? klu->zero_pivots() : 0, 0);
  built.notes.push_back(fmt::format(
      "complete factors by KLU: {:.3g} operations, {:.3g} entries{}{}", promise.operations, promise.entries,
      promise.blocks > 1 ? fmt::format(" in {} blocks", promise.blocks) : "", more));
  if (built.zero_pivots > 0) built.notes.push_back(singular_words(built.zero_pivots));
  built.factors = std::move(klu);
  return built;
}

Promise promise_of(const Klu& klu) {
  return {klu.operations(), klu.entries(), 1.0 * klu.blocks()};
}

/// Collective. Nothing where the factors are of another pattern, or too doubtful with other values.
std::optional<BuiltFactors> factor_again(MatrixToFactor& matrix, std::unique_ptr<Klu> klu, bool is_last,
                                         const PreconditionerOptions& options) {
  const comm::Comm& comm = matrix.comm();
  const MatrixEntries& entries = matrix.gathered();
  Promise promise;
  const bool is_same = comm::agree(comm, [&] {
    if (comm.rank() != 0) return true;
    if (!klu->take_values(entries)) return false;
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

std::optional<BuiltFactors> make(MatrixToFactor& matrix, bool is_last, const PreconditionerOptions& options,
                                 std::unique_ptr<CompleteFactors> earlier) {
  const comm::Comm& comm = matrix.comm();
  // Pivots of two rows are what the library of LDL^T factors has more to offer.
  const bool wants_symmetric_pivots = matrix.is_symmetric() && !matrix.has_useful_diagonal();
  const bool is_too_large =
      matrix.nonzeros() > std::numeric_limits<int>::max() || (!is_last && !matrix.is_small());
  // Of complex matrices it would factor the real form.
  if (!is_last && (wants_symmetric_pivots || is_too_large || options.matrix_is_complex)) return std::nullopt;
  if (is_too_large) fail();
  if (auto* klu = dynamic_cast<Klu*>(earlier.get())) {
    static_cast<void>(earlier.release());
    if (auto again = factor_again(matrix, std::unique_ptr<Klu>(klu), is_last, options)) return again;
  }

  auto klu = std::make_unique<Klu>(matrix, is_last ? most_fill_as_last : most_fill);
  const MatrixEntries& entries = matrix.gathered();
  Promise promise;
  comm::agree(comm, [&] {
    if (comm.rank() != 0) return;
    if (!is_last && !klu->promises(entries, matrix.is_symmetric())) return;
    if (klu->analyse(entries) && (is_last || klu->is_cheaper())) promise = promise_of(*klu);
  });
  promise = comm.broadcast(promise, 0);
  if (!is_last && promise.blocks == 0) return std::nullopt;
  if (promise.blocks == 0) fail();
  check(matrix, promise, options);
  if (!comm.any(comm.rank() == 0 && klu->factor(is_last))) {
    if (is_last) fail();
    return std::nullopt;
  }
  return report(comm, std::move(klu), promise, "");
}

}  // namespace

const FactorLibrary klu_factors{.name = "KLU", .make = make};

}  // namespace ayatori::solvers

#endif
