#include "ayatori/solvers/preconditioners/factorizations/fill_pattern.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/preconditioners/factorizations/block_rows.hpp"

namespace ayatori::solvers {

namespace {

constexpr std::int32_t rows_between_questions = 16;  // the last ones may take as long as all before
constexpr std::int32_t absent = -1;
/// Levels for each of which as much memory as the matrix has entries is set apart.
constexpr int most_reserved = 2;

/// One row while it fills: its columns as a linked list in ascending order, each with its level.
class GrowingRow {
 public:
  explicit GrowingRow(std::int32_t n) : end_(n), next_(n + 1, n), level_(n, absent) {}

  std::int32_t end() const { return end_; }
  std::int32_t first() const { return first_; }
  std::int32_t next(std::int32_t column) const { return next_[column]; }
  std::int32_t level(std::int32_t column) const { return level_[column]; }

  /// Adds a column, or lowers its level. `after` is a smaller column of the row, or absent.
  void add(std::int32_t column, std::int32_t level, std::int32_t after) {
    if (level_[column] != absent) {
      level_[column] = std::min(level_[column], level);
      return;
    }
    level_[column] = level;
    std::int32_t following = after == absent ? first_ : next_[after];
    while (following < column) {
      after = following;
      following = next_[following];
    }
    next_[column] = following;
    (after == absent ? first_ : next_[after]) = column;
  }

  void clear() {
    for (std::int32_t j = first_; j != end_; j = next_[j]) level_[j] = absent;
    first_ = end_;
  }

 private:
  std::int32_t end_;
  std::int32_t first_ = end_;
  Array<std::int32_t> next_;
  Array<std::int32_t> level_;
};

std::int32_t checked_size(const Array<std::int32_t>& columns) {
  if (columns.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw EnvironmentError("a block of factors has more than 2^31 - 1 entries: use more ranks or less fill");
  return static_cast<std::int32_t>(columns.size());
}

/// Without fill.
FillPattern pattern_of(const sparse::Csr& matrix, bool symmetric) {
  FillPattern pattern{{}, {}, {0}, {}};
  pattern.upper_start.reserve(matrix.row_start.size());
  pattern.upper_column.reserve(matrix.column.size());
  if (!symmetric) {
    pattern.lower_start.push_back(0);
    pattern.lower_column.reserve(matrix.column.size());
  }
  for (std::int32_t i = 0; i < matrix.rows; ++i) {
    const auto begin = matrix.column.begin() + matrix.row_start[i];
    const auto end = matrix.column.begin() + matrix.row_start[i + 1];
    const auto diagonal = std::lower_bound(begin, end, i);
    const auto beyond = diagonal != end && *diagonal == i ? diagonal + 1 : diagonal;
    pattern.upper_column.insert(pattern.upper_column.end(), beyond, end);
    pattern.upper_start.push_back(checked_size(pattern.upper_column));
    if (symmetric) continue;
    pattern.lower_column.insert(pattern.lower_column.end(), begin, diagonal);
    pattern.lower_start.push_back(checked_size(pattern.lower_column));
  }
  return pattern;
}

/// Whether each row has the columns of the row before.
std::vector<bool> repetitions(const sparse::Csr& matrix) {
  std::vector<bool> repeats(matrix.rows, false);
  for (std::int32_t i = 1; i < matrix.rows; ++i) repeats[i] = same_columns(matrix, i - 1, i);
  return repeats;
}

/// U with one level of fill. What fills an entry then is an entry of the matrix left of the diagonal, above
/// an entry right of it: of the fill on the left nothing need be known. Rows with the columns of the row
/// before, as those of the unknowns of one node, fill nothing that it does not.
FillPattern one_level_upper(const sparse::Csr& matrix, const std::function<void()>& give_up_if) {
  FillPattern pattern{{}, {}, Array<std::int32_t>(matrix.rows + 1), {}};
  pattern.upper_column.reserve(2 * matrix.column.size());
  pattern.upper_start[0] = 0;
  const auto repeats = repetitions(matrix);
  Array<std::int32_t> last_row(matrix.rows, absent);  // in which a column has been met
  Array<std::int64_t> beyond(matrix.rows);            // the place of a row's first column beyond row i
  Array<std::int32_t> fill(matrix.rows + 1);
  const std::int32_t* column = matrix.column.data();
  for (std::int32_t i = 0; i < matrix.rows; ++i) {
    if (i % rows_between_questions == 0) give_up_if();
    const std::int64_t begin = matrix.row_start[i];
    const std::int64_t end = matrix.row_start[i + 1];
    beyond[i] = std::upper_bound(column + begin, column + end, i) - column;
    for (std::int64_t k = beyond[i]; k < end; ++k) last_row[column[k]] = i;
    std::int32_t filled = 0;
    for (std::int64_t k = begin; k < end && column[k] < i; ++k) {
      const std::int32_t above = column[k];
      if (k > begin && column[k - 1] == above - 1 && repeats[above]) continue;
      std::int64_t& place = beyond[above];
      while (place < matrix.row_start[above + 1] && column[place] <= i) ++place;
      for (std::int64_t q = place; q < matrix.row_start[above + 1]; ++q) {
        fill[filled] = column[q];  // stored without asking: the answer is hard to foretell
        filled += std::exchange(last_row[column[q]], i) != i ? 1 : 0;
      }
    }
    std::sort(fill.begin(), fill.begin() + filled);
    std::merge(column + beyond[i], column + end, fill.begin(), fill.begin() + filled,
               std::back_inserter(pattern.upper_column));
    pattern.upper_start[i + 1] = checked_size(pattern.upper_column);
  }
  return pattern;
}

}  // namespace

FillPattern level_pattern(const sparse::Csr& matrix, bool symmetric, int levels,
                          const std::function<void()>& give_up_if) {
  if (levels == 0) return pattern_of(matrix, symmetric);
  if (levels == 1 && symmetric) return one_level_upper(matrix, give_up_if);
  FillPattern pattern{{}, {}, {0}, {}};
  Array<std::int32_t> upper_level;
  GrowingRow row(matrix.rows);
  // Memory that is grown into is touched once; what stays untouched costs nothing.
  const std::size_t expected =
      matrix.column.size() * (1 + static_cast<std::size_t>(std::min(levels, most_reserved)));
  pattern.upper_column.reserve(expected);
  upper_level.reserve(expected);
  if (!symmetric) {
    pattern.lower_start.push_back(0);
    pattern.lower_column.reserve(expected);
  }
  for (std::int32_t i = 0; i < matrix.rows; ++i) {
    if (i % rows_between_questions == 0) give_up_if();
    std::int32_t last = absent;
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      row.add(matrix.column[k], 0, last);
      last = matrix.column[k];
    }
    for (std::int32_t k = row.first(); k < i; k = row.next(k)) {
      if (!symmetric) pattern.lower_column.push_back(k);
      if (row.level(k) >= levels) continue;  // all that it fills is beyond
      std::int32_t after = k;
      for (std::int32_t q = pattern.upper_start[k]; q < pattern.upper_start[k + 1]; ++q) {
        const std::int32_t level = row.level(k) + upper_level[q] + 1;
        if (level > levels) continue;
        row.add(pattern.upper_column[q], level, after);
        after = pattern.upper_column[q];
      }
    }
    for (std::int32_t j = row.first(); j != row.end(); j = row.next(j)) {
      if (j <= i) continue;
      pattern.upper_column.push_back(j);
      upper_level.push_back(row.level(j));
    }
    row.clear();
    if (!symmetric) pattern.lower_start.push_back(checked_size(pattern.lower_column));
    pattern.upper_start.push_back(checked_size(pattern.upper_column));
  }
  return pattern;
}

}  // namespace ayatori::solvers
