#include "ayatori/sparse/pattern/structural_rank.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ayatori::sparse {

namespace {

constexpr std::int32_t none = -1;

/// Pairs of rows and columns of nonzeros, as many as there can be.
class Pairs {
 public:
  Pairs(const Csr& matrix, std::int64_t most_visits)
      : a_(matrix),
        visits_left_(most_visits),
        column_of_(matrix.rows, none),
        row_of_(matrix.columns, none),
        ahead_(matrix.row_start.begin(), matrix.row_start.end() - 1),
        next_(matrix.rows, 0),
        phase_of_(matrix.rows, 0) {}

  StructuralRank find(std::span<const std::int64_t> row_number) {
    pair_diagonal();
    bool gained = true;
    for (std::int32_t phase = 1; gained && visits_left_ > 0; ++phase) {
      gained = false;
      for (std::int32_t i = 0; i < a_.rows && visits_left_ > 0; ++i)
        if (column_of_[i] == none) gained |= augment(i, phase);
    }
    StructuralRank result;
    result.is_known = visits_left_ > 0;
    result.rank = a_.rows - std::ranges::count(column_of_, none);
    if (result.is_known && result.rank < a_.rows) find_crowd(row_number, result);
    return result;
  }

 private:
  void pair_diagonal() {
    for (std::int32_t i = 0; i < a_.rows; ++i) {
      const std::int32_t* begin = a_.column.data() + a_.row_start[i];
      const std::int32_t* end = a_.column.data() + a_.row_start[i + 1];
      const std::int32_t* place = std::lower_bound(begin, end, i);
      if (place == end || *place != i || a_.value[place - a_.column.data()] == 0) continue;
      column_of_[i] = row_of_[i] = i;
    }
  }

  /// The next nonzero of a row that leads to a column for which f; its column, or none. `k` moves on.
  template <class F>
  std::int32_t advance(std::int64_t& k, std::int32_t row, F&& f) {
    const std::int64_t end = a_.row_start[row + 1];
    for (; k < end; ++k) {
      --visits_left_;
      if (a_.value[k] != 0 && f(a_.column[k])) return a_.column[k++];
    }
    return none;
  }

  /// A path from this row to a free column, over rows that this phase has not been to; pairs are exchanged
  /// along it.
  bool augment(std::int32_t root, std::int32_t phase) {
    path_.clear();
    const auto enter = [&](std::int32_t row) {
      phase_of_[row] = phase;
      next_[row] = a_.row_start[row];
      path_.push_back(row);
    };
    enter(root);
    while (!path_.empty() && visits_left_ > 0) {
      const std::int32_t row = path_.back();
      std::int32_t column = advance(ahead_[row], row, [&](std::int32_t j) { return row_of_[j] == none; });
      if (column != none) {
        for (; !path_.empty(); path_.pop_back()) {
          row_of_[column] = path_.back();
          column = std::exchange(column_of_[path_.back()], column);
        }
        return true;
      }
      column = advance(next_[row], row, [&](std::int32_t j) { return phase_of_[row_of_[j]] != phase; });
      if (column == none) {
        path_.pop_back();
      } else {
        enter(row_of_[column]);
      }
    }
    return false;
  }

  /// What can be reached from rows that are left over.
  void find_crowd(std::span<const std::int64_t> row_number, StructuralRank& result) {
    std::vector<std::int32_t> open;
    std::vector<char> reached(a_.rows, 0);
    for (std::int32_t i = 0; i < a_.rows; ++i)
      if (column_of_[i] == none) open.push_back(i);
    while (!open.empty()) {
      const std::int32_t row = open.back();
      open.pop_back();
      bool is_zero = true;
      for (std::int64_t k = a_.row_start[row]; k < a_.row_start[row + 1]; ++k) {
        if (a_.value[k] == 0) continue;
        is_zero = false;
        const std::int32_t other = row_of_[a_.column[k]];
        if (reached[other] != 0) continue;
        reached[other] = 1;
        ++result.crowded_columns;
        open.push_back(other);
      }
      if (is_zero) continue;
      ++result.crowded_rows;
      const std::int64_t number = row_number.empty() ? row : row_number[row];
      if (result.first_crowded_row < 0 || number < result.first_crowded_row)
        result.first_crowded_row = number;
    }
  }

  const Csr& a_;
  std::int64_t visits_left_;
  std::vector<std::int32_t> column_of_;
  std::vector<std::int32_t> row_of_;
  std::vector<std::int64_t> ahead_;     ///< first entry of each row whose column may be free
  std::vector<std::int64_t> next_;      ///< entry to go on with, for each row in the path
  std::vector<std::int32_t> phase_of_;  ///< in which a row was last entered
  std::vector<std::int32_t> path_;
};

}  // namespace

StructuralRank structural_rank(const Csr& matrix, std::int64_t most_visits,
                               std::span<const std::int64_t> row_number) {
  return Pairs(matrix, most_visits).find(row_number);
}

}  // namespace ayatori::sparse
