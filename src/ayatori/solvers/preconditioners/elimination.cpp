#include "ayatori/solvers/preconditioners/elimination.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
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

/// A row in dense form, with the list of the columns where it has entries.
class SparseRow {
 public:
  explicit SparseRow(std::int32_t n) : value_(n, 0.0), stored_(n, false) {}

  double operator[](std::int32_t j) const { return value_[j]; }
  /// True if the column is new.
  bool add(std::int32_t j, double value) {
    value_[j] += value;
    if (stored_[j]) return false;
    stored_[j] = true;
    columns_.push_back(j);
    return true;
  }
  void scale(std::int32_t j, double factor) { value_[j] *= factor; }
  const std::vector<std::int32_t>& columns() const { return columns_; }
  void clear() {
    for (const std::int32_t j : columns_) {
      value_[j] = 0;
      stored_[j] = false;
    }
    columns_.clear();
  }

 private:
  std::vector<double> value_;
  std::vector<bool> stored_;
  std::vector<std::int32_t> columns_;
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
    while (!lower_.empty()) {
      const std::int32_t k = lower_.top();
      lower_.pop();
      if (std::abs(row_[k]) < drop_below_) continue;
      for (std::int32_t q = f_.upper_start[k]; q < f_.upper_start[k + 1]; ++q)
        add(i, f_.upper_column[q], -row_[k] * f_.upper_value[q]);
      row_.scale(k, f_.inverse_pivot[k]);
      kept_.push_back(k);
    }
    if (!pivots_.acceptable(i, row_[i])) return false;
    f_.inverse_pivot[i] = 1 / row_[i];
    store(kept_, lower_room_, 1, f_.lower_start, f_.lower_column, f_.lower_value);
    kept_.clear();
    for (const std::int32_t j : row_.columns())
      if (j > i && std::abs(row_[j]) >= drop_below_) kept_.push_back(j);
    store(kept_, upper_room_, f_.inverse_pivot[i], f_.upper_start, f_.upper_column, f_.upper_value);
    kept_.clear();
    row_.clear();
    return true;
  }

  TriangularFactors<double> take() { return std::move(f_); }

 private:
  void add(std::int32_t i, std::int32_t j, double value) {
    if (row_.add(j, value) && j < i) lower_.push(j);
  }

  void load(std::int32_t i) {
    double square = 0;
    lower_room_ = upper_room_ = rule_.extra;
    for (std::int64_t k = a_.row_start[i]; k < a_.row_start[i + 1]; ++k) {
      add(i, a_.column[k], a_.value[k]);
      square += a_.value[k] * a_.value[k];
      lower_room_ += a_.column[k] < i ? 1 : 0;
      upper_room_ += a_.column[k] > i ? 1 : 0;
    }
    drop_below_ = rule_.tolerance * std::sqrt(square);
    row_.add(i, pivots_.added(i, shift_));
  }

  /// Appends the `room` largest of the columns, in ascending order, times `factor`.
  void store(std::vector<std::int32_t>& columns, std::int64_t room, double factor, Array<std::int32_t>& start,
             Array<std::int32_t>& column, Array<double>& value) {
    if (static_cast<std::int64_t>(columns.size()) > room) {
      std::nth_element(columns.begin(), columns.begin() + room, columns.end(),
                       [&](std::int32_t a, std::int32_t b) {
                         return std::pair(-std::abs(row_[a]), a) < std::pair(-std::abs(row_[b]), b);
                       });
      columns.resize(room);
    }
    std::ranges::sort(columns);
    for (const std::int32_t j : columns) {
      column.push_back(j);
      value.push_back(factor * row_[j]);
    }
    if (column.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
      throw EnvironmentError(
          "a block of factors has more than 2^31 - 1 entries: use more ranks or less fill");
    start.push_back(static_cast<std::int32_t>(column.size()));
  }

  const sparse::Csr& a_;
  DropRule rule_;
  const Pivots& pivots_;
  double shift_;
  TriangularFactors<double> f_;
  SparseRow row_;
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> lower_;
  std::vector<std::int32_t> kept_;
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
