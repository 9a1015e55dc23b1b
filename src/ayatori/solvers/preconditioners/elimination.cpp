#include "ayatori/solvers/preconditioners/elimination.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"

namespace ayatori::solvers {

namespace {

constexpr std::int32_t rows_between_questions = 256;
constexpr std::int32_t none = -1;

/// Rows of U that wait for the row in which their next entry lies, as linked lists.
class WaitingRows {
 public:
  explicit WaitingRows(std::int32_t n) : head_(n, none), next_(n, none) {}

  void wait(std::int32_t row, std::int32_t until) { next_[row] = std::exchange(head_[until], row); }
  /// Calls f(row) for all that waited for this one; f may let them wait for a later one.
  template <class F>
  void release(std::int32_t until, F&& f) {
    for (std::int32_t row = head_[until]; row != none;) {
      const std::int32_t following = next_[row];
      f(row);
      row = following;
    }
  }

 private:
  Array<std::int32_t> head_;
  Array<std::int32_t> next_;
};

/// A row in dense form that is emptied by ascending columns, while columns beyond may still be added. What
/// has an entry is marked by bytes: those of many columns are stored without looking at what was there.
class SparseRow {
 public:
  explicit SparseRow(std::int32_t n)
      : value_(n, 0.0), marks_(n / group * group + group, 0), groups_(n / (group * word) * word + word, 0) {}

  /// In an empty row; f(add) calls add(column, value) at least once.
  template <class F>
  void fill(F&& f) {
    first_ = std::numeric_limits<std::int32_t>::max();
    last_ = 0;
    f([&](std::int32_t j, double value) {
      value_[j] += value;
      mark(j);
      first_ = std::min(first_, j);
      last_ = std::max(last_, j);
    });
  }
  /// Subtracts `factor` times a row of ascending columns.
  void subtract(double factor, std::span<const std::int32_t> columns, const double* values) {
    if (columns.empty()) return;
    for (std::size_t q = 0; q < columns.size(); ++q) {
      value_[columns[q]] -= factor * values[q];
      mark(columns[q]);
    }
    last_ = std::max(last_, columns.back());
  }

  std::int32_t first() const { return first_; }
  std::int32_t last() const { return last_; }
  /// The entry, which is removed.
  double take(std::int32_t j) {
    marks_[j] = 0;
    return std::exchange(value_[j], 0);
  }
  /// The next column, where `j` was one but not the last and has been taken.
  std::int32_t after(std::int32_t j) {
    std::int32_t place = j / word;
    std::uint64_t found = word_of(marks_, place);
    while (found == 0) {
      ++place;
      if (place % (group / word) == 0) place = next_group(place * word / group - 1) * (group / word);
      found = word_of(marks_, place);
    }
    return place * word + std::countr_zero(found) / word;
  }

 private:
  static constexpr std::int32_t word = 8;    ///< marks that are looked at together
  static constexpr std::int32_t group = 64;  ///< columns that share a mark of their own

  static std::uint64_t word_of(const Array<std::uint8_t>& marks, std::int32_t place) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, marks.data() + place * word, word);
    return bytes;
  }
  void mark(std::int32_t j) {
    marks_[j] = 1;
    groups_[j / group] = 1;
  }
  /// Leaves a group; gives the next one with entries.
  std::int32_t next_group(std::int32_t left) {
    groups_[left] = 0;
    std::int32_t place = left / word;
    std::uint64_t found = word_of(groups_, place);
    while (found == 0) found = word_of(groups_, ++place);
    return place * word + std::countr_zero(found) / word;
  }

  Array<double> value_;
  Array<std::uint8_t> marks_;
  Array<std::uint8_t> groups_;
  std::int32_t first_ = 0;
  std::int32_t last_ = 0;
};

/// ILUT.
class BySize {
 public:
  BySize(const sparse::Csr& matrix, const DropRule& rule, const Pivots& pivots, double shift)
      : a_(matrix), rule_(rule), pivots_(pivots), shift_(shift), row_(matrix.rows) {
    f_.rows = matrix.rows;
    f_.lower_start.assign(1, 0);
    f_.upper_start.assign(1, 0);
    f_.inverse_pivot.resize(matrix.rows);
  }

  /// False if the pivot is not acceptable.
  bool eliminate(std::int32_t i) {
    load(i);
    std::int32_t j = row_.first();
    for (; j < i; j = row_.after(j)) {
      const double w = row_.take(j);
      if (std::abs(w) < drop_below_) continue;
      const std::int32_t begin = f_.upper_start[j];
      const std::size_t length = f_.upper_start[j + 1] - begin;
      row_.subtract(w, std::span(f_.upper_column).subspan(begin, length), f_.upper_value.data() + begin);
      keep(j, w * f_.inverse_pivot[j]);
    }
    const double pivot = row_.take(i);
    if (!pivots_.acceptable(i, pivot)) return false;
    f_.inverse_pivot[i] = 1 / pivot;
    store(lower_room_, 1, f_.lower_start, f_.lower_column, f_.lower_value);
    while (j < row_.last()) {
      j = row_.after(j);
      const double w = row_.take(j);
      if (std::abs(w) >= drop_below_) keep(j, w);
    }
    store(upper_room_, f_.inverse_pivot[i], f_.upper_start, f_.upper_column, f_.upper_value);
    return true;
  }

  TriangularFactors<double> take() { return std::move(f_); }

 private:
  void load(std::int32_t i) {
    double square = 0;
    lower_room_ = upper_room_ = rule_.extra;
    row_.fill([&](auto&& add) {
      for (std::int64_t k = a_.row_start[i]; k < a_.row_start[i + 1]; ++k) {
        add(a_.column[k], a_.value[k]);
        square += a_.value[k] * a_.value[k];
        lower_room_ += a_.column[k] < i ? 1 : 0;
        upper_room_ += a_.column[k] > i ? 1 : 0;
      }
      add(i, pivots_.added(i, shift_));
    });
    drop_below_ = rule_.tolerance * std::sqrt(square);
  }

  void keep(std::int32_t j, double value) {
    column_.push_back(j);
    value_.push_back(value);
  }

  /// Appends the `room` largest of the entries kept, times `factor`.
  void store(std::int64_t room, double factor, Array<std::int32_t>& start, Array<std::int32_t>& column,
             Array<double>& value) {
    if (static_cast<std::int64_t>(column_.size()) > room) keep_largest(room);
    column.insert(column.end(), column_.begin(), column_.end());
    for (const double v : value_) value.push_back(factor * v);
    column_.clear();
    value_.clear();
    if (column.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
      throw EnvironmentError(
          "a block of factors has more than 2^31 - 1 entries: use more ranks or less fill");
    start.push_back(static_cast<std::int32_t>(column.size()));
  }

  /// Of entries of equal size the first ones.
  void keep_largest(std::size_t room) {
    const auto size_of = [](double v) {
      return std::bit_cast<std::uint64_t>(std::abs(v));
    };  // orders NaN, too
    size_.resize(value_.size());
    std::ranges::transform(value_, size_.begin(), size_of);
    const auto smaller = size_.begin() + static_cast<std::ptrdiff_t>(room);
    std::ranges::nth_element(size_, smaller, std::greater<>());
    const std::uint64_t largest_dropped = *smaller;
    auto equal_ones = std::ranges::count(size_.begin(), smaller, largest_dropped);
    std::size_t kept = 0;
    for (std::size_t k = 0; k < value_.size(); ++k) {
      const std::uint64_t size = size_of(value_[k]);
      const bool is_kept = size > largest_dropped || (size == largest_dropped && equal_ones-- > 0);
      column_[kept] = column_[k];
      value_[kept] = value_[k];
      kept += is_kept ? 1 : 0;
    }
    column_.resize(room);
    value_.resize(room);
  }

  const sparse::Csr& a_;
  DropRule rule_;
  const Pivots& pivots_;
  double shift_;
  TriangularFactors<double> f_;
  SparseRow row_;
  std::vector<std::int32_t> column_;  ///< of what is kept of a triangle of the row, ascending
  std::vector<double> value_;
  std::vector<std::uint64_t> size_;
  double drop_below_ = 0;
  std::int64_t lower_room_ = 0;
  std::int64_t upper_room_ = 0;
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
  Array<double> row(f.rows, 0.0);  // as above
  Array<double> pivot(f.rows);
  Array<std::int32_t> cursor(f.upper_start.begin(), f.upper_start.end() - 1);  // a row's entry that is next
  WaitingRows waiting(f.rows);
  const auto wait = [&](std::int32_t k) {
    if (cursor[k] < f.upper_start[k + 1]) waiting.wait(k, f.upper_column[cursor[k]]);
  };
  for (std::int32_t i = 0; i < f.rows; ++i) {
    if (i % rows_between_questions == 0) give_up_if();
    for (std::int32_t q = f.upper_start[i]; q < f.upper_start[i + 1]; ++q) row[f.upper_column[q]] = 0;
    row[i] = 0;
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
      if (matrix.column[k] >= i) row[matrix.column[k]] = matrix.value[k];
    row[i] += pivots.added(i, shift);
    waiting.release(i, [&](std::int32_t k) {
      const double w = f.upper_value[cursor[k]] * pivot[k];
      for (std::int32_t q = cursor[k]; q < f.upper_start[k + 1]; ++q)
        row[f.upper_column[q]] -= w * f.upper_value[q];
      ++cursor[k];
      wait(k);
    });
    if (!pivots.acceptable(i, row[i])) {
      result.rejected_row = i;
      return result;
    }
    pivot[i] = row[i];
    f.inverse_pivot[i] = 1 / row[i];
    for (std::int32_t q = f.upper_start[i]; q < f.upper_start[i + 1]; ++q)
      f.upper_value[q] = row[f.upper_column[q]] * f.inverse_pivot[i];
    wait(i);
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
