#include "ayatori/solvers/preconditioners/complete/nested_dissection.hpp"

#include <metis.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace ayatori::solvers {

namespace {

/// Graph of A + A^T without its diagonal.
struct Graph {
  std::vector<idx_t> start;
  std::vector<idx_t> neighbour;
};

Graph graph_of(idx_t rows, std::span<const int> row, std::span<const int> column) {
  Graph graph;
  graph.start.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k] == column[k]) continue;
    ++graph.start[row[k]];
    ++graph.start[column[k]];
  }
  std::partial_sum(graph.start.begin(), graph.start.end(), graph.start.begin());
  graph.neighbour.resize(graph.start.back());
  std::vector<idx_t> end(graph.start.begin(), graph.start.end() - 1);
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k] == column[k]) continue;
    graph.neighbour[end[row[k] - 1]++] = column[k] - 1;
    graph.neighbour[end[column[k] - 1]++] = row[k] - 1;
  }
  // Each edge once: what is left of a row moves up behind the rows before it.
  idx_t kept = 0;
  for (idx_t r = 0; r < rows; ++r) {
    std::sort(graph.neighbour.begin() + graph.start[r], graph.neighbour.begin() + end[r]);
    const idx_t first = std::exchange(graph.start[r], kept);
    for (idx_t k = first; k < end[r]; ++k)
      if (k == first || graph.neighbour[k] != graph.neighbour[kept - 1])
        graph.neighbour[kept++] = graph.neighbour[k];
  }
  graph.start[rows] = kept;
  return graph;
}

}  // namespace

std::vector<int> nested_dissection(std::int64_t rows, std::span<const int> row, std::span<const int> column) {
  if (rows >= std::numeric_limits<idx_t>::max() || row.size() > std::numeric_limits<idx_t>::max() / 2)
    return {};
  auto vertices = static_cast<idx_t>(rows);
  Graph graph = graph_of(vertices, row, column);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;  // the same order every time
  std::vector<idx_t> order(rows);
  std::vector<idx_t> place(rows);
  const int code = METIS_NodeND(&vertices, graph.start.data(), graph.neighbour.data(), nullptr, options,
                                order.data(), place.data());
  if (code != METIS_OK) return {};
  std::vector<int> from_one(rows);
  std::ranges::transform(place, from_one.begin(), [](idx_t p) { return static_cast<int>(p) + 1; });
  return from_one;
}

}  // namespace ayatori::solvers
