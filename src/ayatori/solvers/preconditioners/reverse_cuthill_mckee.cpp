#include "ayatori/solvers/preconditioners/reverse_cuthill_mckee.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ayatori::solvers {

namespace {

/// The graph of A + A^T without loops; in a row the neighbours may be repeated.
struct Graph {
  Array<std::int64_t> start;
  Array<std::int32_t> neighbour;

  explicit Graph(const sparse::Csr& a) : start(a.rows + 1, 0) {
    const auto for_each_edge = [&](auto&& f) {
      for (std::int32_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
          if (a.column[k] != i) f(i, a.column[k]);
    };
    for_each_edge([&](std::int32_t i, std::int32_t j) {
      ++start[i + 1];
      ++start[j + 1];
    });
    std::partial_sum(start.begin(), start.end(), start.begin());
    neighbour.resize(start.back());
    Array<std::int64_t> next(start.begin(), start.end() - 1);
    for_each_edge([&](std::int32_t i, std::int32_t j) {
      neighbour[next[i]++] = j;
      neighbour[next[j]++] = i;
    });
  }

  std::int64_t degree(std::int32_t i) const { return start[i + 1] - start[i]; }
  std::span<const std::int32_t> around(std::int32_t i) const {
    return std::span(neighbour).subspan(start[i], degree(i));
  }
};

class CuthillMckee {
 public:
  explicit CuthillMckee(const sparse::Csr& a) : graph_(a), visit_(a.rows, 0) {}

  Array<std::int32_t> run() {
    Array<std::int32_t> order;
    const auto n = static_cast<std::int32_t>(visit_.size());
    std::vector<bool> done(n, false);
    for (std::int32_t i = 0; i < n; ++i) {
      if (done[i]) continue;
      search(peripheral(i), true);
      for (const std::int32_t row : found_) done[row] = true;
      order.insert(order.end(), found_.begin(), found_.end());
    }
    std::ranges::reverse(order);
    return order;
  }

 private:
  /// Breadth-first search; gives the number of levels, leaves the rows in found_, the last level from
  /// last_level_ on.
  int search(std::int32_t root, bool by_degree) {
    ++mark_;
    found_.assign(1, root);
    visit_[root] = mark_;
    int levels = 0;
    for (std::size_t begin = 0; begin < found_.size(); ++levels) {
      last_level_ = begin;
      const std::size_t end = found_.size();
      for (; begin < end; ++begin) {
        const auto first = static_cast<std::ptrdiff_t>(found_.size());
        for (const std::int32_t j : graph_.around(found_[begin])) {
          if (visit_[j] == mark_) continue;
          visit_[j] = mark_;
          found_.push_back(j);
        }
        if (by_degree)
          std::ranges::stable_sort(found_.begin() + first, found_.end(), {},
                                   [&](std::int32_t j) { return graph_.degree(j); });
      }
    }
    return levels;
  }

  /// A row that starts a search of many levels, found by going to the far end of another's.
  std::int32_t peripheral(std::int32_t root) {
    for (int levels = search(root, false);;) {
      const auto last = std::span(found_).subspan(last_level_);
      const std::int32_t candidate =
          *std::ranges::min_element(last, {}, [&](std::int32_t j) { return graph_.degree(j); });
      const int deeper = search(candidate, false);
      if (deeper <= levels) return candidate;
      levels = deeper;
    }
  }

  Graph graph_;
  Array<std::int32_t> visit_;
  std::int32_t mark_ = 0;
  std::vector<std::int32_t> found_;
  std::size_t last_level_ = 0;
};

}  // namespace

Array<std::int32_t> reverse_cuthill_mckee(const sparse::Csr& matrix) {
  return CuthillMckee(matrix).run();
}

std::int64_t profile(const sparse::Csr& matrix, std::span<const std::int32_t> order) {
  Array<std::int32_t> position(matrix.rows);
  std::iota(position.begin(), position.end(), 0);
  for (std::size_t k = 0; k < order.size(); ++k) position[order[k]] = static_cast<std::int32_t>(k);
  Array<std::int32_t> farthest(position);
  for (std::int32_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const std::int32_t j = matrix.column[k];
      farthest[i] = std::min(farthest[i], position[j]);
      farthest[j] = std::min(farthest[j], position[i]);
    }
  }
  std::int64_t sum = 0;
  for (std::int32_t i = 0; i < matrix.rows; ++i) sum += position[i] - farthest[i];
  return sum;
}

}  // namespace ayatori::solvers
