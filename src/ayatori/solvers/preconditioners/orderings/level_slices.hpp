#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "ayatori/base/array.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/solvers/preconditioners/factorizations/triangular_row.hpp"
#include "ayatori/sparse/complex_form.hpp"

namespace ayatori::solvers {

/// The entries of a row of a triangle, off the diagonal, in the order in which they are subtracted: `count`
/// of them, at column[0], column[Step], ...
template <class Value, int Step = 1>
struct RowEntries {
  static constexpr int step = Step;
  const std::int32_t* column;
  const Value* value;
  std::int32_t count;
};

/// The level of each of the rows of a triangle, which depend on earlier ones (`is_lower`) or on later ones of
/// them: one more than the highest of those (Anderson & Saad 1989). entries(i) gives the RowEntries of row i.
template <class Entries>
Array<std::int32_t> levels_of(Range rows, bool is_lower, const Entries& entries) {
  const auto first = static_cast<std::int32_t>(rows.begin);
  const auto count = static_cast<std::int32_t>(rows.size());
  Array<std::int32_t> level(count);
  for (std::int32_t n = 0; n < count; ++n) {
    const std::int32_t i = is_lower ? n : count - 1 - n;
    const auto row = entries(first + i);
    std::int32_t own = 0;
    for (std::int32_t k = 0; k < row.count; ++k)
      own = std::max(own, level[row.column[k * row.step] - first] + 1);
    level[i] = own;
  }
  return level;
}

/// A triangular solve with rows of one level side by side, four to a slice. Row by
/// row a processor waits for the unknown before, and foretells badly where short rows end; rows of a slice
/// wait for none of the others, and have one length. Sums are those of solve_row(), in the same order.
/// Traffic beside x and y: 4 + sizeof(Value) bytes per entry, padding included, 5 per row.
template <class Scalar, class Value = Scalar>
class LevelSlices {
 public:
  /// Slices of a triangle's rows, which depend on earlier ones (`is_lower`) or on later ones. Calling
  /// entries(i) gives the RowEntries of row i, with columns among `rows`. Nothing where a sweep by slices
  /// would take as long as one row by row: of long rows, or of few in a level.
  template <class Entries>
  static std::optional<LevelSlices> of(Range rows, bool is_lower, const Entries& entries) {
    std::int64_t total = 0;
    std::int64_t changes = 0;
    std::int32_t before = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const std::int32_t count = entries(row_number(i)).count;
      changes += count != before ? 1 : 0;
      total += count;
      before = count;
    }
    if (total == 0 || total > longest_average * rows.size()) return {};
    if (static_cast<double>(changes) < fewest_changes * static_cast<double>(rows.size())) return {};
    LevelSlices result;
    if (!result.sort_rows(rows, is_lower, entries) || !result.cut(entries, total)) return {};
    result.fill(entries);
    return result;
  }

  /// y_i = end(i, begin(i) - the sum over row i of value y_column), for all i. Both may read y_i as it was.
  template <class Begin, class End>
  void solve(const Begin& begin, const End& end, Scalar* y) const {
    const std::int32_t* row = row_.data();
    for (std::size_t s = 0; s + 1 < start_.size(); ++s, row += lanes) {
      Scalar sum[2][lanes];
      for (int lane = 0; lane < lanes; ++lane) {
        sum[0][lane] = begin(row[lane]);
        sum[1][lane] = 0;
      }
      const std::int32_t last = start_[s + 1] - lanes;
      std::int32_t k = start_[s];
      for (; k + lanes < last; k += 2 * lanes) {
        subtract(k, sum[0], y);
        subtract(k + lanes, sum[1], y);
      }
      if (k < last) subtract(k, sum[0], y);
      for (int lane = 0; lane < lanes; ++lane) sum[0][lane] += sum[1][lane];
      if (k <= last) subtract(last, sum[0], y);
      for (int lane = 0; lane < lanes; ++lane) sum[0][lane] = end(row[lane], sum[0][lane]);
      for (int lane = 0; lane < lanes; ++lane) y[row[lane]] = sum[0][lane];
    }
  }

 private:
  static constexpr int lanes = 4;
  /// Changes of length from a row to the next, by the row: fewer are foretold.
  static constexpr double fewest_changes = 0.2;
  /// Entries of a row, from which on a row alone keeps the processor busy.
  static constexpr std::int64_t longest_average = 6;
  static constexpr std::int64_t fewest_rows_per_level = 4 * lanes;
  /// Ratio of the stored entries to those of the triangle.
  static constexpr double most_padding = 1.3;
  /// Longer rows of a level are not sorted by length.
  static constexpr std::int32_t longest_sorted = 31;

  void subtract(std::int32_t k, Scalar* sum, const Scalar* y) const {
    for (int lane = 0; lane < lanes; ++lane)
      sparse::subtract_product(sum[lane], static_cast<Scalar>(value_[k + lane]), y[column_[k + lane]]);
  }

  /// Sorts rows by level, and within one by length, the longest first. False if levels are too many. There
  /// are rows.
  template <class Entries>
  bool sort_rows(Range rows, bool is_lower, const Entries& entries) {
    const auto first = row_number(rows.begin);
    const auto count = row_number(rows.size());
    const Array<std::int32_t> level = levels_of(rows, is_lower, entries);
    const std::int32_t levels = 1 + *std::ranges::max_element(level);
    if (levels * fewest_rows_per_level > count) return false;
    Array<std::int32_t> of_length(longest_sorted + 2, 0);
    for (std::int32_t i = 0; i < count; ++i) ++of_length[length_class(entries(first + i).count) + 1];
    for (std::int32_t c = 0; c <= longest_sorted; ++c) of_length[c + 1] += of_length[c];
    Array<std::int32_t> by_length(count);
    for (std::int32_t i = 0; i < count; ++i)
      by_length[of_length[length_class(entries(first + i).count)]++] = i;
    level_start_.assign(levels + 1, 0);
    for (const std::int32_t l : level) ++level_start_[l + 1];
    for (std::int32_t l = 0; l < levels; ++l) level_start_[l + 1] += level_start_[l];
    Array<std::int32_t> next(level_start_.begin(), level_start_.end() - 1);
    sorted_.resize(count);
    for (const std::int32_t i : by_length) sorted_[next[level[i]]++] = first + i;
    return true;
  }
  static std::int32_t row_number(std::int64_t i) { return static_cast<std::int32_t>(i); }
  static std::int32_t length_class(std::int32_t count) { return std::max(longest_sorted - count, 0); }

  /// Where slices begin. A slice of fewer rows has its last one several times. False if most is padding.
  template <class Entries>
  bool cut(const Entries& entries, std::int64_t total) {
    std::int64_t stored = 0;
    const auto most = static_cast<std::int64_t>(most_padding * static_cast<double>(total));
    start_.push_back(0);
    for (std::size_t l = 0; l + 1 < level_start_.size(); ++l) {
      for (std::int32_t first = level_start_[l]; first < level_start_[l + 1]; first += lanes) {
        std::int32_t longest = 0;
        for (int lane = 0; lane < lanes; ++lane) {
          row_.push_back(sorted_[std::min(first + lane, level_start_[l + 1] - 1)]);
          longest = std::max(longest, entries(row_.back()).count);
        }
        stored += lanes * std::int64_t{longest};
        if (stored > most || stored > std::numeric_limits<std::int32_t>::max()) return false;
        start_.push_back(static_cast<std::int32_t>(stored));
      }
    }
    level_start_ = sorted_ = {};
    return true;
  }

  /// Rows are made as long as the longest of their slice by zeros before their last entry, in its column.
  /// Only slices of the first level have rows without any, and those have no other.
  template <class Entries>
  void fill(const Entries& entries) {
    column_.resize(start_.back());
    value_.resize(start_.back());
    for (std::size_t s = 0; s + 1 < start_.size(); ++s) {
      const std::int32_t length = (start_[s + 1] - start_[s]) / lanes;
      for (int lane = 0; lane < lanes && length > 0; ++lane) {
        const auto row = entries(row_[s * lanes + lane]);
        std::int32_t k = start_[s] + lane;
        for (std::int32_t e = 0; e < length; ++e, k += lanes) {
          const std::int32_t place = e + 1 == length ? row.count - 1 : std::min(e, row.count - 1);
          const bool is_padding = e + 1 < length && e >= row.count - 1;
          column_[k] = row.column[place * row.step];
          value_[k] = is_padding ? Value(0) : row.value[place * row.step];
        }
      }
    }
  }

  Array<std::int32_t> start_;   ///< start of each slice among the entries, and their end
  Array<std::int32_t> row_;     ///< row of each lane
  Array<std::int32_t> column_;  ///< entry k of all rows of a slice, then entry k + 1
  Array<Value> value_;
  Array<std::int32_t> level_start_;  ///< start of each level in `sorted_`, while they are cut
  Array<std::int32_t> sorted_;
};

/// y_i = end(i, begin(i) - the sum over row i of value y_column) for `rows` of a lower triangle, one after
/// the other, or of an upper one, from the last on; by slices where there are some. `begin` and `end` may
/// read y_i as it was.
template <bool is_lower, class Scalar, class Value, class Entries, class Begin, class End>
void sweep(Range rows, const std::optional<LevelSlices<Scalar, Value>>& slices, const Entries& entries,
           const Begin& begin, const End& end, Scalar* y) {
  if (slices) return slices->solve(begin, end, y);
  constexpr int step = is_lower ? 1 : -1;
  const auto count = static_cast<std::int32_t>(rows.size());
  auto i = static_cast<std::int32_t>(is_lower ? rows.begin : rows.end - 1);
  Scalar newest = 0;
  for (std::int32_t n = 0; n < count; ++n, i += step) {
    const auto row = entries(i);
    y[i] = newest =
        end(i, solve_row<row.step>(begin(i), row.column, row.value, 0, row.count, y, i - step, newest));
  }
}

/// The two triangles of a solve, in slices from the solve on that repays their making.
template <class Scalar, class Value = Scalar>
struct TriangleSlices {
  std::optional<LevelSlices<Scalar, Value>> lower;
  std::optional<LevelSlices<Scalar, Value>> upper;
  int solves = 0;

  /// To be called at the beginning of each solve: make() sets `lower` and `upper`. Slices take about as long
  /// to make as this many solves row by row.
  template <class Make>
  void begin_solve(const Make& make) {
    constexpr int solves_before = 8;
    if (solves == solves_before) make();
    if (solves <= solves_before) ++solves;
  }
};

}  // namespace ayatori::solvers
