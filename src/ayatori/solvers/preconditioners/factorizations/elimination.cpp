#include "ayatori/solvers/preconditioners/factorizations/elimination.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/preconditioners/factorizations/column_marks.hpp"

namespace ayatori::solvers {

namespace {

constexpr std::int32_t rows_between_questions = 16;  // the last ones may take as long as all before
constexpr std::int32_t none = -1;

/// Rows of U that wait for the row in which their next entry lies, as linked lists.
class WaitingRows {
 public:
  explicit WaitingRows(std::int32_t n) : head_(n, none), next_(n, none) {}

  void wait(std::int32_t row, std::int32_t until) { next_[row] = std::exchange(head_[until], row); }
  /// The first of the rows that wait for this one, and that after another; or none.
  std::int32_t first(std::int32_t until) const { return head_[until]; }
  std::int32_t after(std::int32_t row) const { return next_[row]; }

 private:
  Array<std::int32_t> head_;
  Array<std::int32_t> next_;
};

/// A row in dense form that is emptied by ascending columns, while columns beyond may still be added.
class SparseRow {
 public:
  explicit SparseRow(std::int32_t n) : value_(n, 0.0), marks_(n) {}

  /// To an empty row: the first and the last of the columns that will be added.
  void begin(std::int32_t first, std::int32_t last) {
    first_ = first;
    last_ = last;
  }
  void add(std::int32_t j, double value) {
    value_[j] += value;
    marks_.mark(j);
  }
  /// Subtracts `factor` times a row of one or more ascending columns.
  void subtract(double factor, std::span<const std::int32_t> columns, const double* values) {
    for (std::size_t q = 0; q < columns.size(); ++q) {
      value_[columns[q]] -= factor * values[q];
      marks_.mark(columns[q]);
    }
    last_ = std::max(last_, columns.back());
  }

  std::int32_t first() const { return first_; }
  /// The next column, where `j` was one but not the last.
  std::int32_t next(std::int32_t j) { return marks_.next(j); }
  /// The entry, which is removed.
  double take(std::int32_t j) { return std::exchange(value_[j], 0); }
  /// Calls f(column, entry) for what is beyond `j`, which is removed.
  template <class F>
  void drain(std::int32_t j, F&& f) {
    marks_.drain(j, last_, [&](std::int32_t column) { f(column, take(column)); });
  }

 private:
  Array<double> value_;
  ColumnMarks marks_;
  std::int32_t first_ = 0;
  std::int32_t last_ = 0;
};

/// ILUT.
class BySize {
 public:
  BySize(const sparse::Csr& matrix, const DropRule& rule, const Pivots& pivots, double shift)
      : a_(matrix),
        rule_(rule),
        pivots_(pivots),
        shift_(shift),
        row_(matrix.rows),
        column_(matrix.rows + 1),
        value_(matrix.rows + 1),
        size_(matrix.rows) {
    f_.rows = matrix.rows;
    f_.lower_start.assign(1, 0);
    f_.upper_start.assign(1, 0);
    f_.inverse_pivot.resize(matrix.rows);
  }

  /// False if the pivot is not acceptable.
  bool eliminate(std::int32_t i) {
    load(i);
    for (std::int32_t j = row_.first(), following = i; j < i; j = following) {
      following =
          row_.next(j);  // before there is fill, whose marks are on their way to the cache for a while
      const double w = row_.take(j);
      if (std::abs(w) < drop_below_) continue;
      keep_if(true, j, w * f_.inverse_pivot[j]);
      const std::int32_t begin = f_.upper_start[j];
      const std::size_t length = f_.upper_start[j + 1] - begin;
      if (length == 0) continue;
      const auto columns = std::span(f_.upper_column).subspan(begin, length);
      row_.subtract(w, columns, f_.upper_value.data() + begin);
      following = std::min(following, columns.front());
    }
    const double pivot = row_.take(i);
    if (!pivots_.acceptable(i, pivot)) return false;
    f_.inverse_pivot[i] = 1 / pivot;
    store(lower_room_, 1, f_.lower_start, f_.lower_column, f_.lower_value);
    row_.drain(i, [&](std::int32_t j, double w) { keep_if(std::abs(w) >= drop_below_, j, w); });
    store(upper_room_, f_.inverse_pivot[i], f_.upper_start, f_.upper_column, f_.upper_value);
    return true;
  }

  TriangularFactors<double> take() { return std::move(f_); }

 private:
  void load(std::int32_t i) {
    const std::int64_t begin = a_.row_start[i];
    const std::int64_t end = a_.row_start[i + 1];
    const bool is_empty = begin == end;
    row_.begin(is_empty ? i : std::min(i, a_.column[begin]), is_empty ? i : std::max(i, a_.column[end - 1]));
    double square = 0;
    lower_room_ = upper_room_ = rule_.extra;
    for (std::int64_t k = begin; k < end; ++k) {
      row_.add(a_.column[k], a_.value[k]);
      square += a_.value[k] * a_.value[k];
      lower_room_ += a_.column[k] < i ? 1 : 0;
      upper_room_ += a_.column[k] > i ? 1 : 0;
    }
    row_.add(i, pivots_.added(i, shift_));
    drop_below_ = rule_.tolerance * std::sqrt(square);
  }

  /// Without asking, as the answer is hard to foretell.
  void keep_if(bool is_kept, std::int32_t j, double value) {
    column_[kept_] = j;
    value_[kept_] = value;
    kept_ += is_kept ? 1 : 0;
  }

  /// Appends the `room` largest of the entries kept, times `factor`.
  void store(std::int64_t room, double factor, Array<std::int32_t>& start, Array<std::int32_t>& column,
             Array<double>& value) {
    if (kept_ > room) keep_largest(room);
    const std::size_t begin = column.size();
    if (begin + kept_ > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
      throw EnvironmentError(
          "a block of factors has more than 2^31 - 1 entries: use more ranks or less fill");
    column.resize(begin + kept_);
    value.resize(begin + kept_);
    std::copy_n(column_.data(), kept_, column.data() + begin);
    for (std::int64_t k = 0; k < kept_; ++k) value[begin + k] = factor * value_[k];
    start.push_back(static_cast<std::int32_t>(column.size()));
    kept_ = 0;
  }

  /// Keeps the largest entries, the first ones of equal size.
  void keep_largest(std::int64_t room) {
    // By bits, which order NaN, too.
    const auto size_of = [](double v) { return std::bit_cast<std::uint64_t>(std::abs(v)); };
    std::transform(value_.data(), value_.data() + kept_, size_.data(), size_of);
    std::uint64_t* const smaller = size_.data() + room;
    std::nth_element(size_.data(), smaller, size_.data() + kept_, std::greater<>());
    const std::uint64_t largest_dropped = *smaller;
    auto equal_ones = std::count(size_.data(), smaller, largest_dropped);
    const std::int64_t all = std::exchange(kept_, 0);
    for (std::int64_t q = 0; q < all; ++q) {
      const std::uint64_t size = size_of(value_[q]);
      const bool is_kept = size > largest_dropped || (size == largest_dropped && equal_ones-- > 0);
      keep_if(is_kept, column_[q], value_[q]);
    }
  }

  const sparse::Csr& a_;
  DropRule rule_;
  const Pivots& pivots_;
  double shift_;
  TriangularFactors<double> f_;
  SparseRow row_;
  Array<std::int32_t> column_;  ///< columns kept of a triangle of the row, ascending; room for one more
  Array<double> value_;
  Array<std::uint64_t> size_;
  std::int64_t kept_ = 0;
  double drop_below_ = 0;
  std::int64_t lower_room_ = 0;
  std::int64_t upper_room_ = 0;
};

/// The node of each row of U: a row belongs to that of the row before if it has the same columns beyond the
/// diagonal.
Array<std::int32_t> nodes_of(const TriangularFactors<double>& f) {
  Array<std::int32_t> node(f.rows);
  for (std::int32_t i = 0; i < f.rows; ++i) {
    const std::int32_t* const begin = f.upper_column.data() + f.upper_start[i];
    const std::int32_t* const end = f.upper_column.data() + f.upper_start[i + 1];
    const std::int32_t* const before = i == 0 ? begin : f.upper_column.data() + f.upper_start[i - 1];
    const bool joins =
        begin - before == end - begin + 1 && *before == i && std::equal(begin, end, before + 1);
    node[i] = joins ? node[i - 1] : i;
  }
  return node;
}

/// The rows of U of a symmetric matrix, one after the other.
class SymmetricRows {
 public:
  explicit SymmetricRows(TriangularFactors<double>& factors)
      : f_(factors),
        node_(nodes_of(factors)),
        row_(factors.rows, 0.0),
        pivot_(factors.rows),
        cursor_(factors.upper_start.begin(), factors.upper_start.end() - 1),
        waiting_(factors.rows) {}

  /// Row i of the matrix, `added` to its diagonal, less what the rows of U above have for it; gives the
  /// pivot.
  double collect(const sparse::Csr& matrix, std::int32_t i, double added) {
    // What is dropped is collected as well, and not read: see eliminate_on_pattern().
    for (std::int32_t q = f_.upper_start[i]; q < f_.upper_start[i + 1]; ++q) row_[f_.upper_column[q]] = 0;
    row_[i] = 0;
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
      if (matrix.column[k] >= i) row_[matrix.column[k]] = matrix.value[k];
    row_[i] += added;
    for (std::int32_t k = waiting_.first(i); k != none;) {
      const std::int32_t other = waiting_.after(k);
      if (other != none && node_[other] == node_[k]) {
        const std::int32_t following = waiting_.after(other);
        subtract(k, other);
        step(k);
        step(other);
        k = following;
      } else {
        subtract(k);
        step(k);
        k = other;
      }
    }
    return row_[i];
  }

  void store(std::int32_t i, double pivot) {
    pivot_[i] = pivot;
    f_.inverse_pivot[i] = 1 / pivot;
    for (std::int32_t q = f_.upper_start[i]; q < f_.upper_start[i + 1]; ++q)
      f_.upper_value[q] = row_[f_.upper_column[q]] * f_.inverse_pivot[i];
    wait(i);
  }

 private:
  void wait(std::int32_t k) {
    if (cursor_[k] < f_.upper_start[k + 1]) waiting_.wait(k, f_.upper_column[cursor_[k]]);
  }
  void step(std::int32_t k) {
    ++cursor_[k];
    wait(k);
  }
  void subtract(std::int32_t k) {
    const double w = f_.upper_value[cursor_[k]] * pivot_[k];
    for (std::int32_t q = cursor_[k]; q < f_.upper_start[k + 1]; ++q)
      row_[f_.upper_column[q]] -= w * f_.upper_value[q];
  }
  /// First the one, then the other, which has the same columns: the row is read and written once for both.
  void subtract(std::int32_t one, std::int32_t other) {
    const std::int32_t length = f_.upper_start[one + 1] - cursor_[one];
    const std::int32_t* const columns = f_.upper_column.data() + cursor_[one];
    const double* const u = f_.upper_value.data() + cursor_[one];
    const double* const v = f_.upper_value.data() + cursor_[other];
    const double of_one = u[0] * pivot_[one];
    const double of_other = v[0] * pivot_[other];
    for (std::int32_t q = 0; q < length; ++q)
      row_[columns[q]] = row_[columns[q]] - of_one * u[q] - of_other * v[q];
  }

  TriangularFactors<double>& f_;
  Array<std::int32_t> node_;
  Array<double> row_;  ///< in dense form
  Array<double> pivot_;
  Array<std::int32_t> cursor_;  ///< the entry of each row of U that is next
  WaitingRows waiting_;
};

TriangularFactors<double> on_pattern(FillPattern pattern, bool symmetric) {
  TriangularFactors<double> f;
  f.rows = static_cast<std::int32_t>(pattern.upper_start.size()) - 1;
  f.symmetric = symmetric;
  if (!symmetric) {
    f.lower_start = std::move(pattern.lower_start);
    f.lower_column = std::move(pattern.lower_column);
    f.lower_value.resize(f.lower_column.size());
  }
  f.upper_start = std::move(pattern.upper_start);
  f.upper_column = std::move(pattern.upper_column);
  f.upper_value.resize(f.upper_column.size());
  f.inverse_pivot.resize(f.rows);
  return f;
}

}  // namespace

Eliminated eliminate_on_pattern(const sparse::Csr& matrix, FillPattern pattern, const Pivots& pivots,
                                double shift, const std::function<void()>& give_up_if) {
  Eliminated result{on_pattern(std::move(pattern), false), {}};
  TriangularFactors<double>& f = result.factors;
  // Where a row has no entry, its dense form collects what is dropped; no test for that, as only the pattern
  // is read, and written first in every row.
  Array<double> row(f.rows, 0.0);
  for (std::int32_t i = 0; i < f.rows; ++i) {
    if (i % rows_between_questions == 0) give_up_if();
    for (std::int32_t p = f.lower_start[i]; p < f.lower_start[i + 1]; ++p) row[f.lower_column[p]] = 0;
    for (std::int32_t q = f.upper_start[i]; q < f.upper_start[i + 1]; ++q) row[f.upper_column[q]] = 0;
    row[i] = 0;
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
      row[matrix.column[k]] = matrix.value[k];
    row[i] += pivots.added(i, shift);
    for (std::int32_t p = f.lower_start[i]; p < f.lower_start[i + 1]; ++p) {
      const std::int32_t k = f.lower_column[p];
      const double w = row[k];
      for (std::int32_t q = f.upper_start[k]; q < f.upper_start[k + 1]; ++q)
        row[f.upper_column[q]] -= w * f.upper_value[q];
      f.lower_value[p] = w * f.inverse_pivot[k];
    }
    if (!pivots.acceptable(i, row[i])) {
      result.rejected_row = i;
      return result;
    }
    f.inverse_pivot[i] = 1 / row[i];
    for (std::int32_t q = f.upper_start[i]; q < f.upper_start[i + 1]; ++q)
      f.upper_value[q] = row[f.upper_column[q]] * f.inverse_pivot[i];
  }
  return result;
}

Eliminated eliminate_symmetric(const sparse::Csr& matrix, FillPattern pattern, const Pivots& pivots,
                               double shift, const std::function<void()>& give_up_if) {
  Eliminated result{on_pattern(std::move(pattern), true), {}};
  TriangularFactors<double>& f = result.factors;
  SymmetricRows rows(f);
  for (std::int32_t i = 0; i < f.rows; ++i) {
    if (i % rows_between_questions == 0) give_up_if();
    const double pivot = rows.collect(matrix, i, pivots.added(i, shift));
    if (!pivots.acceptable(i, pivot)) {
      result.rejected_row = i;
      return result;
    }
    rows.store(i, pivot);
  }
  return result;
}

Eliminated eliminate_by_size(const sparse::Csr& matrix, const DropRule& rule, const Pivots& pivots,
                             double shift, const std::function<void()>& give_up_if) {
  BySize elimination(matrix, rule, pivots, shift);
  for (std::int32_t i = 0; i < matrix.rows; ++i) {
    if (i % rows_between_questions == 0) give_up_if();
    if (!elimination.eliminate(i)) return {{}, i};
  }
  return {elimination.take(), {}};
}

}  // namespace ayatori::solvers
