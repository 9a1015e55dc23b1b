#include "ayatori/solvers/preconditioners/orderings/reverse_cuthill_mckee.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ayatori/sparse/pattern/mirror.hpp"

namespace ayatori::solvers {

namespace {

sparse::Symmetry symmetry_on_this_thread(const sparse::Csr& matrix) {
  const auto halves = sparse::compare_halves(matrix, {0, matrix.rows}, &sparse::Symmetry::pattern);
  const bool pattern = halves.lower.pattern && halves.more_lower == 0;
  return {pattern, pattern && halves.lower.values};
}

class CuthillMckee {
 public:
  explicit CuthillMckee(const PatternGraph& graph)
      : graph_(graph), visit_(graph.rows(), 0), order_(graph.rows() + 1) {}

  Array<std::int32_t> run() {
    for (std::int32_t i = 0; i < graph_.rows(); ++i) {
      if (visit_[i] != 0) continue;
      search(peripheral(i), true);
      begin_ = end_;
    }
    order_.pop_back();
    std::ranges::reverse(order_);
    return std::move(order_);
  }

 private:
  /// Breadth-first search; gives the number of levels, leaves the rows in order_ from begin_ to end_, the
  /// last level from last_level_ on.
  int search(std::int32_t root, bool by_degree) {
    ++mark_;
    order_[begin_] = root;
    end_ = begin_ + 1;
    visit_[root] = mark_;
    int levels = 0;
    for (std::int32_t next = begin_; next < end_; ++levels) {
      last_level_ = next;
      for (const std::int32_t level_end = end_; next < level_end; ++next) {
        const std::int32_t first = end_;
        visit_around(order_[next]);
        if (by_degree) sort_by_degree(std::span(order_).subspan(first, end_ - first));
      }
    }
    return levels;
  }

  /// Appends what is new: without asking, as the answer is hard to foretell.
  void visit_around(std::int32_t i) {
    std::int32_t end = end_;
    for (const std::int32_t j : graph_.around(i)) {
      order_[end] = j;
      end += visit_[j] != mark_ ? 1 : 0;
      visit_[j] = mark_;
    }
    end_ = end;
  }

  void sort_by_degree(std::span<std::int32_t> rows) const {
    constexpr std::size_t few = 24;
    if (rows.size() > few) {
      std::ranges::stable_sort(rows, {}, [&](std::int32_t j) { return graph_.degree(j); });
      return;
    }
    for (std::size_t k = 1; k < rows.size(); ++k) {
      const std::int32_t row = rows[k];
      std::size_t place = k;
      for (; place > 0 && graph_.degree(rows[place - 1]) > graph_.degree(row); --place)
        rows[place] = rows[place - 1];
      rows[place] = row;
    }
  }

  /// A row that starts a search of many levels, found by going to the far end of another's.
  std::int32_t peripheral(std::int32_t root) {
    for (int levels = search(root, false);;) {
      const auto last = std::span(order_).subspan(last_level_, end_ - last_level_);
      const std::int32_t candidate =
          *std::ranges::min_element(last, {}, [&](std::int32_t j) { return graph_.degree(j); });
      const int deeper = search(candidate, false);
      if (deeper <= levels) return candidate;
      levels = deeper;
    }
  }

  const PatternGraph& graph_;
  Array<std::int32_t> visit_;  ///< the search that met a row last; 0: none
  std::int32_t mark_ = 0;
  Array<std::int32_t> order_;  ///< and room for one more
  std::int32_t begin_ = 0;     ///< first of the connected part that is searched
  std::int32_t end_ = 0;
  std::int32_t last_level_ = 0;
};

}  // namespace

PatternGraph::PatternGraph(const sparse::Csr& matrix, std::span<const std::int32_t> column_place)
    : degree_(matrix.rows) {
  const auto symmetry =
      column_place.empty() ? symmetry_on_this_thread(matrix) : sparse::Symmetry{false, false};
  is_of_symmetric_matrix_ = symmetry.values;
  if (symmetry.pattern) {
    count_entries_of(matrix);
  } else {
    join_mirror_image(matrix, column_place);
    remove_repetitions();
  }
  start_ = own_start_.empty() ? matrix.row_start.data() : own_start_.data();
  neighbour_ = own_start_.empty() ? matrix.column.data() : own_neighbour_.data();
}

void PatternGraph::count_entries_of(const sparse::Csr& matrix) {
  for (std::int32_t i = 0; i < rows(); ++i) {
    const auto begin = matrix.column.begin() + matrix.row_start[i];
    const auto end = matrix.column.begin() + matrix.row_start[i + 1];
    degree_[i] = static_cast<std::int32_t>(end - begin) - (std::binary_search(begin, end, i) ? 1 : 0);
  }
}

/// In a row the entries of its column above the diagonal come first, then its own, then those below.
void PatternGraph::join_mirror_image(const sparse::Csr& matrix, std::span<const std::int32_t> column_place) {
  const auto for_each_in_row = [&](std::int32_t i, auto&& f) {
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const std::int32_t j = column_place.empty() ? matrix.column[k] : column_place[matrix.column[k]];
      if (j != i) f(j);
    }
  };
  own_start_.assign(rows() + 1, 0);
  for (std::int32_t i = 0; i < rows(); ++i) {
    for_each_in_row(i, [&](std::int32_t j) {
      ++own_start_[i + 1];
      ++own_start_[j + 1];
    });
  }
  std::partial_sum(own_start_.begin(), own_start_.end(), own_start_.begin());
  own_neighbour_.resize(own_start_.back());
  Array<std::int64_t> next(own_start_.begin(), own_start_.end() - 1);
  for (std::int32_t i = 0; i < rows(); ++i) {
    degree_[i] = static_cast<std::int32_t>(own_start_[i + 1] - own_start_[i]);
    const std::int64_t first = next[i];
    for_each_in_row(i, [&](std::int32_t j) {
      own_neighbour_[next[i]++] = j;
      own_neighbour_[next[j]++] = i;
    });
    if (!column_place.empty()) std::sort(own_neighbour_.begin() + first, own_neighbour_.begin() + next[i]);
  }
}

/// Keeps the first of neighbours that are met twice; the degree counts both.
void PatternGraph::remove_repetitions() {
  Array<std::int32_t> met_by(rows(), -1);
  std::int64_t end = 0;
  for (std::int32_t i = 0; i < rows(); ++i) {
    const std::int64_t begin = std::exchange(own_start_[i], end);
    for (std::int64_t k = begin; k < begin + degree_[i]; ++k) {
      const std::int32_t j = own_neighbour_[k];
      own_neighbour_[end] = j;
      end += std::exchange(met_by[j], i) != i ? 1 : 0;
    }
  }
  own_start_.back() = end;
}

Array<std::int32_t> reverse_cuthill_mckee(const PatternGraph& graph) {
  return CuthillMckee(graph).run();
}

std::int64_t profile(const PatternGraph& graph, std::span<const std::int32_t> order) {
  Array<std::int32_t> position(graph.rows());
  std::iota(position.begin(), position.end(), 0);
  for (std::size_t k = 0; k < order.size(); ++k) position[order[k]] = static_cast<std::int32_t>(k);
  std::int64_t sum = 0;
  for (std::int32_t i = 0; i < graph.rows(); ++i) {
    std::int32_t farthest = position[i];
    for (const std::int32_t j : graph.around(i)) farthest = std::min(farthest, position[j]);
    sum += position[i] - farthest;
  }
  return sum;
}

}  // namespace ayatori::solvers
