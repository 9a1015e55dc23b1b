#include "ayatori/sparse/pattern/components.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/pattern/union_find.hpp"
#include "ayatori/sparse/products/ghost_exchange.hpp"

namespace ayatori::sparse {

namespace {

/// Whether these rows are seen to be connected among themselves: every row with that of its first entry left
/// of the diagonal, and rows without one with those of all their entries.
bool are_connected(const Csr& a, Range rows) {
  Array<std::int32_t> set(rows.size());
  std::vector<std::int64_t> beginnings;  // first rows of sets: those without a neighbour before them
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    std::int64_t k = a.row_start[i];
    while (k < a.row_start[i + 1] && a.column[k] < i && (a.column[k] < rows.begin || a.value[k] == 0)) ++k;
    const bool has_neighbour = k < a.row_start[i + 1] && a.column[k] < i;
    set[i - rows.begin] =
        has_neighbour ? set[a.column[k] - rows.begin] : static_cast<std::int32_t>(beginnings.size());
    if (!has_neighbour) beginnings.push_back(i);
  }
  auto left = static_cast<std::int64_t>(beginnings.size());
  UnionFind sets(left);
  for (const std::int64_t i : beginnings) {
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1] && left > 1; ++k)
      if (rows.contains(a.column[k]) && a.value[k] != 0 &&
          sets.unite(set[i - rows.begin], set[a.column[k] - rows.begin]))
        --left;
  }
  return left <= 1;
}

/// Whether a row has an entry in a column before these rows.
bool reach_back(const Csr& a, Range rows) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1] && a.column[k] < rows.begin; ++k)
      if (a.value[k] != 0) return true;
  return false;
}

/// Whether a row of this rank has an entry in a column of a rank before it.
bool reach_back_to_others(const SplitMatrix& parts, std::int64_t first_row) {
  const Csr& halo = parts.halo;
  for (std::size_t k = 0; k < halo.column.size(); ++k)
    if (parts.plan.ghosts[halo.column[k]] < first_row && halo.value[k] != 0) return true;
  return false;
}

/// Local components, each known by the global number of its first row, that have an entry in common.
struct Edge {
  std::int64_t mine, other;
  auto operator<=>(const Edge&) const = default;
};

/// The components of this rank's own block.
struct LocalComponents {
  Array<std::int64_t> label;  ///< first row of the component, for own rows, then for ghosts
  Array<std::int64_t> size;   ///< size of the component that begins at a row, else 0
};

LocalComponents local_components(const SplitMatrix& parts, std::int64_t first_row) {
  const Csr& a = parts.interior;
  UnionFind sets(a.rows);
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      if (a.value[k] != 0) sets.unite(i, a.column[k]);
  LocalComponents found{Array<std::int64_t>(a.rows + parts.plan.ghosts.size(), 0),
                        Array<std::int64_t>(a.rows, 0)};
  for (std::int32_t i = 0; i < a.rows; ++i) {
    const std::int32_t root = sets.root(i);
    found.label[i] = first_row + root;
    ++found.size[root];
  }
  return found;
}

std::vector<Edge> edges_to_ghosts(const SplitMatrix& parts, const Array<std::int64_t>& label) {
  const Csr& halo = parts.halo;
  std::vector<Edge> edges;
  for (std::int32_t r = 0; r < halo.rows; ++r)
    for (std::int64_t k = halo.row_start[r]; k < halo.row_start[r + 1]; ++k)
      if (halo.value[k] != 0)
        edges.push_back({label[parts.halo_rows[r]], label[parts.interior.rows + halo.column[k]]});
  std::ranges::sort(edges);
  edges.erase(std::ranges::unique(edges).begin(), edges.end());
  return edges;
}

void add(ComponentCounts& counts, std::int64_t rows) {
  ++counts.all;
  counts.of_one_row += rows == 1 ? 1 : 0;
  counts.rows_of_largest = std::max(counts.rows_of_largest, rows);
}

}  // namespace

bool is_connected(const comm::Comm& comm, const SplitMatrix& parts) {
  const std::int64_t first_row = parts.partition.range(comm.rank()).begin;
  const bool mine = comm::agree(comm, [&] {
    std::atomic<bool> connected = true;
    parallel_ranges_throwing(parts.interior.rows, [&](Range rows) {
      const bool is_first_of_all = first_row + rows.begin == 0;
      const bool reaches_back =
          rows.begin == 0 ? reach_back_to_others(parts, first_row) : reach_back(parts.interior, rows);
      if (!rows.empty() && !((is_first_of_all || reaches_back) && are_connected(parts.interior, rows)))
        connected = false;
    });
    return connected.load();
  });
  return !comm.any(!mine);
}

ComponentCounts count_components(const comm::Comm& comm, const SplitMatrix& parts) {
  const Range own = parts.partition.range(comm.rank());
  auto local = comm::agree(comm, [&] { return local_components(parts, own.begin); });
  GhostExchange<std::int64_t>(comm, parts.plan, 1, 0, parts.interior.rows).fetch(local.label.data());
  const auto mine = comm::agree(comm, [&] { return edges_to_ghosts(parts, local.label); });
  const auto edges = comm.allgatherv(std::span<const Edge>(mine)).values;

  std::vector<std::int64_t> labels;  // labels of components with such edges
  for (const Edge& edge : edges) labels.insert(labels.end(), {edge.mine, edge.other});
  std::ranges::sort(labels);
  labels.erase(std::ranges::unique(labels).begin(), labels.end());
  const auto place = [&](std::int64_t label) {
    return static_cast<std::int32_t>(std::ranges::lower_bound(labels, label) - labels.begin());
  };
  const auto several = static_cast<std::int32_t>(labels.size());
  UnionFind sets(several);
  for (const Edge& edge : edges) sets.unite(place(edge.mine), place(edge.other));
  std::vector<std::int64_t> sizes(labels.size(), 0);
  for (std::int32_t c = 0; c < several; ++c) {
    if (!own.contains(labels[c])) continue;
    const std::int64_t rows = std::exchange(local.size[labels[c] - own.begin], 0);
    sizes[sets.root(c)] += rows;
  }
  comm.allreduce(std::span<std::int64_t>(sizes), comm::ReduceOp::sum);

  ComponentCounts counts;
  for (const std::int64_t rows : local.size)
    if (rows > 0) add(counts, rows);
  std::array<std::int64_t, 2> sums{counts.all, counts.of_one_row};
  comm.allreduce(std::span<std::int64_t>(sums), comm::ReduceOp::sum);
  counts = {sums[0], sums[1], comm.allreduce(counts.rows_of_largest, comm::ReduceOp::max)};
  for (std::int32_t c = 0; c < several; ++c)
    if (sets.root(c) == c) add(counts, sizes[c]);
  return counts;
}

}  // namespace ayatori::sparse
