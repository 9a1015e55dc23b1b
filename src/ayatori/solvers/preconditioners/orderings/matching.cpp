#include "ayatori/solvers/preconditioners/orderings/matching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace ayatori::solvers {

namespace {

constexpr std::int32_t none = -1;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The assignment of rows to columns of least cost. Throughout, u_i + v_j <= cost(i, j) for all entries, with
/// equality for those that are matched.
class Assignment {
 public:
  explicit Assignment(const sparse::Csr& matrix)
      : a_(matrix),
        largest_log_(matrix.rows, -infinity),
        u_(matrix.rows, 0.0),
        v_(matrix.rows, 0.0),
        column_of_(matrix.rows, none),
        row_of_(matrix.rows, none),
        distance_(matrix.rows, infinity),
        reached_from_(matrix.rows, none) {}

  Matching run(const std::function<void()>& give_up_if) {
    set_costs();
    pair_greedily();
    for (std::int32_t i = 0; i < a_.rows; ++i) {
      if (column_of_[i] != none) continue;
      give_up_if();
      augment(i);
    }
    return finish();
  }

 private:
  void set_costs() {
    cost_.resize(a_.value.size());
    for (std::size_t k = 0; k < cost_.size(); ++k) {
      cost_[k] = std::log2(std::abs(a_.value[k]));  // -infinity for 0, a cost that no path takes
      largest_log_[a_.column[k]] = std::max(largest_log_[a_.column[k]], cost_[k]);
    }
    for (double& largest : largest_log_)
      if (largest == -infinity) largest = 0;
    for (std::size_t k = 0; k < cost_.size(); ++k) cost_[k] = largest_log_[a_.column[k]] - cost_[k];
  }

  /// u_i = the least cost of the row; rows take a column of that cost if it is free.
  void pair_greedily() {
    for (std::int32_t i = 0; i < a_.rows; ++i) {
      u_[i] = infinity;
      for (std::int64_t k = a_.row_start[i]; k < a_.row_start[i + 1]; ++k) u_[i] = std::min(u_[i], cost_[k]);
      if (u_[i] == infinity) continue;
      for (std::int64_t k = a_.row_start[i]; k < a_.row_start[i + 1]; ++k) {
        if (cost_[k] > u_[i] || row_of_[a_.column[k]] != none) continue;
        row_of_[a_.column[k]] = i;
        column_of_[i] = a_.column[k];
        break;
      }
    }
  }

  /// Dijkstra from a free row over reduced costs cost - u - v to the nearest free column; the matching is
  /// exchanged along the path, and the dual variables follow.
  void augment(std::int32_t start) {
    if (u_[start] == infinity) return;
    using Reached = std::pair<double, std::int32_t>;
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
    std::vector<std::int32_t> touched;
    std::vector<std::int32_t> closed;
    std::int32_t end = none;
    double length = 0;
    double enough = infinity;  // the distance of a free column: what is farther will not be reached
    for (std::int32_t i = start;;) {
      for (std::int64_t k = a_.row_start[i]; k < a_.row_start[i + 1]; ++k) {
        const std::int32_t j = a_.column[k];
        const double through = length + std::max(0.0, cost_[k] - u_[i] - v_[j]);
        if (!(through < distance_[j]) || through > enough) continue;
        if (distance_[j] == infinity) touched.push_back(j);
        distance_[j] = through;
        reached_from_[j] = i;
        if (through <= length && row_of_[j] == none) {  // none can be nearer
          end = j;
          break;
        }
        if (row_of_[j] == none) enough = through;
        open.emplace(through, j);
      }
      if (end != none) break;
      while (!open.empty() && open.top().first > distance_[open.top().second]) open.pop();
      if (open.empty()) break;
      const std::int32_t nearest = open.top().second;
      length = distance_[nearest];
      open.pop();
      if (row_of_[nearest] == none) {
        end = nearest;
        break;
      }
      closed.push_back(nearest);
      i = row_of_[nearest];
    }
    if (end != none) {
      u_[start] += length;
      for (const std::int32_t j : closed) {
        u_[row_of_[j]] += length - distance_[j];
        v_[j] -= length - distance_[j];
      }
      for (std::int32_t j = end; j != none;) {
        const std::int32_t i = reached_from_[j];
        row_of_[j] = i;
        j = std::exchange(column_of_[i], j);
      }
    }
    for (const std::int32_t j : touched) distance_[j] = infinity;
  }

  Matching finish() {
    Matching result;
    std::int32_t free_column = 0;
    for (std::int32_t i = 0; i < a_.rows; ++i) {
      if (column_of_[i] != none) continue;
      while (row_of_[free_column] != none) ++free_column;
      row_of_[free_column] = i;
      column_of_[i] = free_column;
      ++result.unmatched;
    }
    result.column_of = std::move(column_of_);
    result.row_scale.resize(a_.rows);
    result.column_scale.resize(a_.rows);
    for (std::int32_t i = 0; i < a_.rows; ++i) {
      result.row_scale[i] = std::isfinite(u_[i]) ? std::exp2(std::round(u_[i])) : 1;
      result.column_scale[i] = std::exp2(std::round(v_[i] - largest_log_[i]));
    }
    return result;
  }

  const sparse::Csr& a_;
  Array<double> cost_;         ///< cost of each entry: log2 of the column's largest - log2 |a_ij|
  Array<double> largest_log_;  ///< log2 of each column's largest |a_ij|
  Array<double> u_;            ///< infinite for a row of zeros
  Array<double> v_;
  Array<std::int32_t> column_of_;
  Array<std::int32_t> row_of_;
  Array<double> distance_;
  Array<std::int32_t> reached_from_;
};

}  // namespace

Matching maximum_product_matching(const sparse::Csr& matrix, const std::function<void()>& give_up_if) {
  return Assignment(matrix).run(give_up_if);
}

}  // namespace ayatori::solvers
