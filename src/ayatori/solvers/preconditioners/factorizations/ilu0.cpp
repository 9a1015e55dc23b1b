#include "ayatori/solvers/preconditioners/factorizations/ilu0.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/preconditioners/factorizations/error_of_ones.hpp"
#include "ayatori/solvers/preconditioners/factorizations/even_rows.hpp"
#include "ayatori/solvers/preconditioners/looks_symmetric.hpp"

namespace ayatori::solvers {

using sparse::is_finite;
using sparse::subtract_product;
using sparse::times;

namespace {

/// A diagonal entry this small against its row is rounding noise: as good as zero.
constexpr double zero_diagonal = 1e-12;
/// Pivots are wanted within [smallest |d_i|, largest max_j |a_ij|], about half of the digits either way.
constexpr double smallest_pivot = 1e-8;
constexpr double largest_pivot = 1e8;
/// The largest plausible entry of (L D U)^-1 d; beyond it the triangular solves amplify rounding (Chow & Saad
/// 1997).
constexpr double largest_growth = 1e15;
/// The ladder of shifts: 0, then first_shift * shift_factor^k up to last_shift.
constexpr double first_shift = 1e-3;
constexpr double shift_factor = 2;
constexpr double last_shift = 1.1e3;

constexpr std::int32_t rows_between_questions = 256;

/// First entry of a row that is not the zero which makes it even.
std::int32_t first_entry(const Array<std::int32_t>& column, std::int32_t begin, std::int32_t end) {
  return begin + (end - begin > 1 && column[begin] == column[begin + 1] ? 1 : 0);
}

/// Takes the multiples of earlier rows from row i, which is given in dense form, and stores what they were.
/// A function of its own, for among the variables of another its loop finds no free registers: with its
/// counter on the stack it takes four times as long.
template <class Scalar>
[[gnu::noinline]] void eliminate(Ilu0Of<Scalar>& factor, std::int32_t i, Scalar* row) {
  const std::int32_t* const upper_start = factor.upper_start.data();
  const std::int32_t* const upper_column = factor.upper_column.data();
  const Scalar* const upper_value = factor.upper_value.data();
  const std::int32_t end_of_lower = factor.lower_start[i + 1];
  for (std::int32_t p = first_entry(factor.lower_column, factor.lower_start[i], end_of_lower);
       p < end_of_lower; ++p) {
    const std::int32_t k = factor.lower_column[p];
    const Scalar w = row[k];
    const std::int32_t end = upper_start[k + 1];
    for (std::int32_t q = upper_start[k]; q < end; ++q)
      subtract_product(row[upper_column[q]], w, upper_value[q]);
    factor.lower_value[p] = times(w, factor.inverse_pivot[k]);
  }
}

/// Factors one block. The members beside the result are what one attempt needs of A, and its dense workspace.
template <class Scalar>
class Factorization {
 public:
  Factorization(const sparse::CsrOf<Scalar>& matrix, Range block, std::int64_t first_row,
                const std::function<bool()>& gives_up)
      : a_(matrix), block_(block), first_row_(first_row), gives_up_(gives_up) {
    factor_.rows = static_cast<std::int32_t>(block.size());
  }

  Ilu0Of<Scalar> run() {
    count_entries();
    fill([](auto...) {}, [](auto...) {});
    set_references();
    row_value_.assign(factor_.rows, Scalar(0));
    climb_ladder();
    if constexpr (std::is_same_v<Scalar, double>) {
      factor_.holds_triangles = !factor_.report.diagonal_only && leaves_triangles();
      if (factor_.holds_triangles) keep_pivots();
    }
    return std::move(factor_);
  }

  /// Without elimination, D being given.
  Ilu0Of<Scalar> take_triangles(std::span<const Scalar> inverse_diagonal) {
    count_entries();
    const auto inverse = inverse_diagonal.subspan(block_.begin, factor_.rows);
    fill([&](Scalar& value, std::int64_t k) { value = times(a_.value[k], inverse[column_in_block(k)]); },
         [&](Scalar& value, std::int64_t k, std::int32_t i) { value = times(a_.value[k], inverse[i]); });
    std::ranges::copy(inverse, factor_.inverse_pivot.begin());
    factor_.holds_triangles = true;
    keep_pivots();
    return std::move(factor_);
  }

 private:
  /// The entries of a row that lie in the block, as places in A: left of the diagonal, on it, right of it.
  struct Places {
    std::int64_t begin;
    std::int64_t diagonal;
    std::int64_t upper;  ///< diagonal + 1, or diagonal where it is not stored
    std::int64_t end;
    bool has_diagonal() const { return upper > diagonal; }
  };
  /// Columns ascend.
  Places find_places(std::int32_t i) const {
    const std::int64_t row = block_.begin + i;
    std::int64_t begin = a_.row_start[row];
    std::int64_t end = a_.row_start[row + 1];
    if (block_.size() < a_.rows) {
      begin = first_from(begin, end, block_.begin);
      end = first_from(begin, end, block_.end);
    }
    const std::int64_t diagonal = first_from(begin, end, row);
    const bool stored = diagonal != end && a_.column[diagonal] == row;
    return {begin, diagonal, diagonal + (stored ? 1 : 0), end};
  }
  /// The first of the entries [begin, end) of a row that is in this column or to its right. Where there are
  /// few, counting beats a search, whose branches nobody foresees.
  std::int64_t first_from(std::int64_t begin, std::int64_t end, std::int64_t column) const {
    constexpr std::int64_t few = 24;
    const std::int32_t* const columns = a_.column.data();
    if (end - begin > few) return std::lower_bound(columns + begin, columns + end, column) - columns;
    std::int32_t before = 0;
    for (std::int64_t k = begin; k < end; ++k) before += columns[k] < column ? 1 : 0;
    return begin + before;
  }
  std::int32_t column_in_block(std::int64_t place) const {
    return static_cast<std::int32_t>(a_.column[place] - block_.begin);
  }

  void count_entries() {
    places_.resize(factor_.rows);
    factor_.lower_start.resize(factor_.rows + 1);
    factor_.upper_start.resize(factor_.rows + 1);
    factor_.lower_start[0] = factor_.upper_start[0] = 0;
    std::int64_t lower = 0;
    std::int64_t upper = 0;
    for (std::int32_t i = 0; i < factor_.rows; ++i) {
      const Places places = places_[i] = find_places(i);
      lower += places.diagonal - places.begin;
      upper += places.end - places.upper;
      if (std::max(lower, upper) > std::numeric_limits<std::int32_t>::max())
        throw EnvironmentError(
            "block-ilu0: a block has more than 2^31 - 1 entries: use more ranks or blocks");
      factor_.lower_start[i + 1] = static_cast<std::int32_t>(lower);
      factor_.upper_start[i + 1] = static_cast<std::int32_t>(upper);
    }
    factor_.lower_start = even_starts(factor_.lower_start);
    factor_.upper_start = even_starts(factor_.upper_start);
  }

  /// Columns of L and U; in_lower(value of L, place in A) and in_upper(value of U, place in A, row) may set
  /// the values.
  template <class Lower, class Upper>
  void fill(const Lower& in_lower, const Upper& in_upper) {
    factor_.lower_column.resize(factor_.lower_start.back());
    factor_.lower_value.resize(factor_.lower_start.back());
    factor_.upper_column.resize(factor_.upper_start.back());
    factor_.upper_value.resize(factor_.upper_start.back());
    factor_.inverse_pivot.resize(factor_.rows);
    for (std::int32_t i = 0; i < factor_.rows; ++i) {
      const Places& places = places_[i];
      // From the end on, so that the column which makes a row even is the one that comes first.
      std::int32_t next_lower = factor_.lower_start[i + 1];
      for (std::int64_t k = places.diagonal; k-- > places.begin;) {
        factor_.lower_column[--next_lower] = column_in_block(k);
        in_lower(factor_.lower_value[next_lower], k);
      }
      if (next_lower > factor_.lower_start[i])
        set_zero(factor_.lower_column, factor_.lower_value, next_lower);
      std::int32_t next_upper = factor_.upper_start[i + 1];
      for (std::int64_t k = places.upper; k < places.end; ++k) {
        factor_.upper_column[--next_upper] = column_in_block(k);
        in_upper(factor_.upper_value[next_upper], k, i);
      }
      if (next_upper > factor_.upper_start[i])
        set_zero(factor_.upper_column, factor_.upper_value, next_upper);
    }
  }

  /// Whether elimination has changed nothing but the diagonal.
  bool leaves_triangles() const {
    const Array<Scalar>& inverse = factor_.inverse_pivot;
    for (std::int32_t i = 0; i < factor_.rows; ++i) {
      const Places& places = places_[i];
      std::int32_t p = factor_.lower_start[i + 1];
      for (std::int64_t k = places.diagonal; k-- > places.begin;)
        if (factor_.lower_value[--p] != times(a_.value[k], inverse[column_in_block(k)])) return false;
      std::int32_t q = factor_.upper_start[i + 1];
      for (std::int64_t k = places.upper; k < places.end; ++k)
        if (factor_.upper_value[--q] != times(a_.value[k], inverse[i])) return false;
    }
    return true;
  }

  void keep_pivots() {
    factor_.pivot.resize(factor_.rows);
    factor_.without_pivots.resize(factor_.rows);
    factor_.work.resize(factor_.rows);
    for (std::int32_t i = 0; i < factor_.rows; ++i) {
      const Places& places = places_[i];
      const Scalar entry = places.has_diagonal() ? a_.value[places.diagonal] : Scalar(0);
      factor_.pivot[i] = 1.0 / factor_.inverse_pivot[i];
      factor_.without_pivots[i] = entry - 2.0 * factor_.pivot[i];
    }
  }

  static void set_zero(Array<std::int32_t>& column, Array<Scalar>& value, std::int32_t next) {
    column[next - 1] = column[next];
    value[next - 1] = 0;
  }

  /// The largest entry of each row, and d: what a pivot is judged and shifted by.
  void set_references() {
    row_max_.resize(factor_.rows);
    reference_.resize(factor_.rows);
    for (std::int32_t i = 0; i < factor_.rows; ++i) {
      const Places& places = places_[i];
      double largest = 0;
      Scalar sum = 0;  // finite only if all are, or very large
      for (std::int64_t k = places.begin; k < places.end; ++k) {
        largest = std::max(largest, std::abs(a_.value[k]));
        sum += a_.value[k];
      }
      if (!is_finite(sum)) check_entries(i);
      row_max_[i] = largest;
      if (!places.has_diagonal()) ++factor_.report.inserted_diagonals;
      if (largest == 0) ++factor_.report.zero_rows;
      note_diagonal(i, places.has_diagonal() ? a_.value[places.diagonal] : Scalar(0));
    }
    scale_ = factor_.rows == 0 ? 1 : *std::max_element(row_max_.begin(), row_max_.end());
    if (scale_ == 0) scale_ = 1;
  }

  void check_entries(std::int32_t i) const {
    for (std::int64_t k = places_[i].begin; k < places_[i].end; ++k)
      if (!is_finite(a_.value[k])) throw InputError(name_row(i) + "an entry is not finite");
  }

  void note_diagonal(std::int32_t i, Scalar diagonal) {
    const bool vanishes = std::abs(diagonal) <= zero_diagonal * row_max_[i];
    reference_[i] = vanishes ? Scalar(row_max_[i]) : diagonal;
    if (row_max_[i] == 0) return;
    const double real = std::real(diagonal);
    if (vanishes || std::imag(diagonal) != 0) one_sign_ = false;
    if (sign_ == 0) sign_ = real < 0 ? -1 : 1;
    if (real * sign_ < 0) one_sign_ = false;
  }

  void climb_ladder() {
    for (double shift = 0; shift < last_shift; shift = std::max(first_shift, shift * shift_factor)) {
      std::optional<std::int32_t> rejected = factor_shifted(shift);
      if (!rejected) rejected = find_growth(shift);
      if (!rejected) {
        factor_.report.shift = shift;
        return;
      }
      if (shift == 0) factor_.report.rejected_row = *rejected;
    }
    keep_diagonal_only();
  }

  /// One attempt on A + shift diag(d); gives the row of the first unacceptable pivot. Row-wise elimination:
  /// row i in dense form loses the multiple w u_kj of every earlier row k of its pattern. Where row i has no
  /// entry, the dense form collects what is dropped; no test for that, as only the pattern is read, and
  /// written first in every row.
  std::optional<std::int32_t> factor_shifted(double shift) {
    for (std::int32_t i = 0; i < factor_.rows; ++i) {
      if (i % rows_between_questions == 0 && gives_up_ && gives_up_())
        throw EnvironmentError("block-ilu0: the set-up took longer than it was worth, and was given up");
      load_row(i, shift);
      eliminate(factor_, i, row_value_.data());
      if (!acceptable(i, row_value_[i], shift)) return i;
      const Scalar inverse = 1.0 / row_value_[i];
      if (!is_finite(inverse)) return i;
      factor_.inverse_pivot[i] = inverse;
      const std::int32_t end = factor_.upper_start[i + 1];
      for (std::int32_t q = first_entry(factor_.upper_column, factor_.upper_start[i], end); q < end; ++q)
        factor_.upper_value[q] = times(row_value_[factor_.upper_column[q]], inverse);
    }
    return std::nullopt;
  }

  void load_row(std::int32_t i, double shift) {
    row_value_[i] = 0;
    for (std::int64_t k = places_[i].begin; k < places_[i].end; ++k)
      row_value_[column_in_block(k)] = a_.value[k];
    row_value_[i] += row_max_[i] == 0 ? Scalar(scale_) : shift * reference_[i];
  }

  bool acceptable(std::int32_t i, Scalar pivot, double shift) const {
    if (!is_finite(pivot)) return false;
    if (row_max_[i] == 0) return true;
    if (has_turned(pivot) && (shift > 0 || keeps_sign())) return false;
    return std::abs(pivot) >= smallest_pivot * std::abs(reference_[i]) &&
           std::abs(pivot) <= largest_pivot * std::max(row_max_[i], std::abs(reference_[i]));
  }

  /// Whether it does not have the one sign that all diagonal entries have.
  bool has_turned(Scalar pivot) const { return one_sign_ && std::real(pivot) * sign_ <= 0; }
  /// A symmetric matrix may be definite, and its factors then have to be. Complex ones with a real diagonal
  /// are Hermitian.
  bool keeps_sign() const {
    if constexpr (std::is_same_v<Scalar, double>) {
      if (!is_symmetric_) is_symmetric_ = looks_symmetric(a_);
      return *is_symmetric_;
    } else {
      return true;
    }
  }

  /// Solves with d as the right-hand side; gives the row where the solution, which has no unit, is
  /// implausible. Where the block is shifted or pivots have changed sign, the factors must also be near it.
  std::optional<std::int32_t> find_growth(double shift) {
    Array<Scalar> solution(factor_.rows);
    factor_.solve(reference_, solution);
    for (std::int32_t i = 0; i < factor_.rows; ++i)
      if (!(std::abs(solution[i]) <= largest_growth)) return i;
    const auto turned = std::ranges::find_if(factor_.inverse_pivot, [&](Scalar p) { return has_turned(p); });
    const bool any_turned = turned != factor_.inverse_pivot.end();
    if ((shift == 0 && !any_turned) || error_of_ones(factor_, row_sums()) <= largest_error_of_ones)
      return std::nullopt;
    return any_turned ? static_cast<std::int32_t>(turned - factor_.inverse_pivot.begin()) : factor_.rows - 1;
  }

  Array<Scalar> row_sums() const {
    Array<Scalar> sums(factor_.rows, Scalar(0));
    for (std::int32_t i = 0; i < factor_.rows; ++i)
      for (std::int64_t k = places_[i].begin; k < places_[i].end; ++k) sums[i] += a_.value[k];
    return sums;
  }

  void keep_diagonal_only() {
    factor_.report.diagonal_only = true;
    factor_.lower_start.assign(factor_.rows + 1, 0);
    factor_.upper_start.assign(factor_.rows + 1, 0);
    for (std::int32_t i = 0; i < factor_.rows; ++i) {
      factor_.inverse_pivot[i] = 1.0 / (row_max_[i] == 0 ? Scalar(scale_) : reference_[i]);
      if (!is_finite(factor_.inverse_pivot[i]))
        throw InputError(name_row(i) + "1 / pivot overflows: scale the matrix");
    }
  }

  std::string name_row(std::int32_t i) const {
    return fmt::format("block-ilu0: row {}: ", first_row_ + block_.begin + i + 1);
  }

  const sparse::CsrOf<Scalar>& a_;
  Range block_;
  std::int64_t first_row_;
  const std::function<bool()>& gives_up_;
  Ilu0Of<Scalar> factor_;
  Array<Places> places_;
  Array<double> row_max_;    ///< max_j |a_ij| within the block
  Array<Scalar> reference_;  ///< d: a_ii, or the row's largest entry where a_ii vanishes
  double scale_ = 1;         ///< largest entry of the block
  double sign_ = 0;          ///< sign of the first diagonal entry
  bool one_sign_ = true;     ///< no diagonal entry vanishes, has another sign or an imaginary part
  mutable std::optional<bool> is_symmetric_;  ///< once it matters
  Array<Scalar> row_value_;  ///< dense form of the row being eliminated, valid on its pattern
};

}  // namespace

template <class Scalar>
RowEntries<Scalar> Ilu0Of<Scalar>::lower(std::int32_t i) const {
  const std::int32_t k = lower_start[i];
  return {lower_column.data() + k, lower_value.data() + k, lower_start[i + 1] - k};
}

template <class Scalar>
RowEntries<Scalar> Ilu0Of<Scalar>::upper(std::int32_t i) const {
  const std::int32_t k = upper_start[i];
  return {upper_column.data() + k, upper_value.data() + k, upper_start[i + 1] - k};
}

template <class Scalar>
void Ilu0Of<Scalar>::make_slices() const {
  const Range all{0, rows};
  slices.lower = LevelSlices<Scalar>::of(all, true, [this](std::int32_t i) { return lower(i); });
  slices.upper = LevelSlices<Scalar>::of(all, false, [this](std::int32_t i) { return upper(i); });
}

template <class Scalar>
template <class Begin, class End>
void Ilu0Of<Scalar>::sweep_lower(const Begin& begin, const End& end, Scalar* y) const {
  sweep<true>(
      Range{0, rows}, slices.lower, [this](std::int32_t i) { return lower(i); }, begin, end, y);
}

template <class Scalar>
template <class Begin, class End>
void Ilu0Of<Scalar>::sweep_upper(const Begin& begin, const End& end, Scalar* y) const {
  sweep<false>(
      Range{0, rows}, slices.upper, [this](std::int32_t i) { return upper(i); }, begin, end, y);
}

template <class Scalar>
void Ilu0Of<Scalar>::solve(std::span<const Scalar> x, std::span<Scalar> y) const {
  AYATORI_ASSERT(static_cast<std::int32_t>(x.size()) == rows && x.size() == y.size());
  slices.begin_solve([this] { make_slices(); });
  const auto whole = [](std::int32_t, Scalar sum) { return sum; };
  sweep_lower([&](std::int32_t i) { return x[i]; }, whole, y.data());
  sweep_upper([&](std::int32_t i) { return times(y[i], inverse_pivot[i]); }, whole, y.data());
}

template <class Scalar>
void Ilu0Of<Scalar>::solve_upper(std::span<const Scalar> x, std::span<Scalar> z, std::span<Scalar> w,
                                 std::span<Scalar> u) const {
  AYATORI_ASSERT(holds_triangles && x.size() == z.size() && x.size() == w.size());
  slices.begin_solve([this] { make_slices(); });
  // A z - L D z = D U z + (diag(A) - 2 D) z
  const auto end = [&](std::int32_t i, Scalar sum) {
    w[i] = x[i] + times(without_pivots[i], sum);
    return sum;
  };
  if (u.empty()) {
    sweep_upper([&](std::int32_t i) { return times(x[i], inverse_pivot[i]); }, end, z.data());
  } else {
    sweep_upper([&](std::int32_t i) { return u[i] = times(x[i], inverse_pivot[i]); }, end, z.data());
  }
}

template <class Scalar>
void Ilu0Of<Scalar>::finish_product(std::span<const Scalar> z, std::span<Scalar> w) const {
  const auto end = [&](std::int32_t i, Scalar sum) {
    w[i] = sum + times(pivot[i], z[i]);
    return sum;
  };
  sweep_lower([&](std::int32_t i) { return w[i]; }, end, work.data());
}

template <class Scalar>
void Ilu0Of<Scalar>::solve_lower(std::span<Scalar> r) const {
  sweep_lower([&](std::int32_t i) { return r[i]; }, [](std::int32_t, Scalar sum) { return sum; }, r.data());
}

template <class Scalar>
void Ilu0Of<Scalar>::multiply_lower(std::span<const Scalar> seen, std::span<Scalar> r) const {
  for (std::int32_t i = 0; i < rows; ++i) {
    const auto row = lower(i);
    r[i] = seen[i] - subtract_row<row.step>(Scalar(0), row.column, row.value, 0, row.count, seen.data());
  }
}

template <class Scalar>
std::int64_t Ilu0Of<Scalar>::bytes() const {
  constexpr std::int64_t scalar = sizeof(Scalar);
  return (4 + scalar) * static_cast<std::int64_t>(lower_start.back() + upper_start.back()) +
         (8 + scalar) * static_cast<std::int64_t>(rows);
}

template <class Scalar>
Ilu0Of<Scalar> ilu0_factor(const sparse::CsrOf<Scalar>& matrix, Range block, std::int64_t first_row,
                           const std::function<bool()>& gives_up) {
  AYATORI_ASSERT(0 <= block.begin && block.begin <= block.end && block.end <= matrix.rows);
  return Factorization<Scalar>(matrix, block, first_row, gives_up).run();
}

Ilu0 take_triangles(const sparse::Csr& matrix, Range block, std::span<const double> inverse_diagonal) {
  AYATORI_ASSERT(0 <= block.begin && block.begin <= block.end && block.end <= matrix.rows);
  return Factorization<double>(matrix, block, 0, {}).take_triangles(inverse_diagonal);
}

template struct Ilu0Of<double>;
template struct Ilu0Of<sparse::Complex>;
template Ilu0 ilu0_factor(const sparse::Csr&, Range, std::int64_t, const std::function<bool()>&);
template Ilu0Of<sparse::Complex> ilu0_factor(const sparse::CsrOf<sparse::Complex>&, Range, std::int64_t,
                                             const std::function<bool()>&);

}  // namespace ayatori::solvers
