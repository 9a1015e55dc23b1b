#include "ayatori/forecast/pattern.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "ayatori/base/error.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/mapping/graph/halo_messages.hpp"
#include "ayatori/mapping/optimization/partition.hpp"

namespace ayatori::forecast {

namespace {

std::vector<std::int32_t> even_parts(const Pattern& pattern, int parts) {
  std::vector<std::int32_t> part_of;
  part_of.reserve(pattern.rows());
  for (int part = 0; part < parts; ++part)
    part_of.insert(part_of.end(), split_evenly(pattern.rows(), parts, part).size(), part);
  return part_of;
}

/// As sparse::RowPartition::balanced() does it on as many ranks as parts: boundary k is put where the running
/// cost is nearest to k / parts of all.
std::vector<std::int32_t> contiguous_parts(const Pattern& pattern, int parts) {
  constexpr std::int64_t nonzeros_per_row_cost = 8;  // see sparse::balance_nonzeros()
  const std::int64_t total = pattern.nonzeros() + nonzeros_per_row_cost * pattern.rows();
  std::vector<std::int32_t> part_of(pattern.rows());
  std::int32_t part = 0;
  std::int64_t sum = 0;
  for (std::int64_t row = 0; row < pattern.rows(); ++row) {
    const std::int64_t next =
        sum + static_cast<std::int64_t>(pattern.columns(row).size()) + nonzeros_per_row_cost;
    std::int32_t after = part;  // parts that begin behind this row
    for (; after + 1 < parts && next * parts >= (after + 1) * total; ++after) {
      const std::int64_t excess_after = next * parts - (after + 1) * total;
      const std::int64_t lack_before = (after + 1) * total - sum * parts;
      if (excess_after > lack_before) part = after + 1;
    }
    part_of[row] = part;
    part = after;
    sum = next;
  }
  return part_of;
}

/// Each edge from both ends, without the diagonal.
mapping::Pattern symmetrized(const Pattern& pattern) {
  const std::int64_t rows = pattern.rows();
  std::vector<std::vector<std::int32_t>> neighbours(rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const std::int32_t column : pattern.columns(row)) {
      if (column == row) continue;
      neighbours[row].push_back(column);
      neighbours[column].push_back(static_cast<std::int32_t>(row));
    }
  }
  mapping::Pattern both{{0}, {}};
  for (auto& some : neighbours) {
    std::ranges::sort(some);
    std::ranges::unique_copy(some, std::back_inserter(both.neighbour));
    some = {};
    if (both.neighbour.size() > std::numeric_limits<std::int32_t>::max())
      throw EnvironmentError("the pattern exceeds METIS's index type: use --partition contiguous");
    both.start.push_back(static_cast<std::int32_t>(both.neighbour.size()));
  }
  return both;
}

std::vector<std::int32_t> graph_parts(const Pattern& pattern, int parts) {
  auto graph = symmetrized(pattern);
  return mapping::partition_rows(graph, parts);
}

}  // namespace

std::span<const Partition> partitions() {
  static constexpr std::array list{
      Partition{"contiguous", "blocks of rows in their order, of equal work", contiguous_parts},
      Partition{"rows", "blocks of as many rows each", even_parts},
      Partition{"graph", "by METIS: fewer neighbours and shorter messages", graph_parts}};
  return list;
}

std::int64_t RankShare::matrix_bytes() const {
  return 12 * (interior + halo) + 8 * (rows + 1) + 12 * halo_rows;
}

std::int64_t RankShare::product_bytes() const {
  constexpr std::int64_t pack = 4 + 8 + 8;  // an index, the element, and where it is put
  return matrix_bytes() + (8 + 16) * rows + pack * sent + 8 * ghosts + 16 * halo_rows;
}

SpreadMatrix spread(const Pattern& pattern, std::span<const std::int32_t> part_of, int ranks) {
  SpreadMatrix matrix;
  matrix.ranks.resize(ranks);
  for (std::int64_t row = 0; row < pattern.rows(); ++row) {
    RankShare& rank = matrix.ranks[part_of[row]];
    const auto columns = pattern.columns(row);
    const auto own =
        std::ranges::count_if(columns, [&](std::int32_t column) { return part_of[column] == part_of[row]; });
    const auto others = static_cast<std::int64_t>(columns.size()) - own;
    ++rank.rows;
    rank.interior += own;
    rank.halo += others;
    rank.halo_rows += others > 0 ? 1 : 0;
  }
  matrix.messages = mapping::halo_messages(part_of, ranks, [&](std::int64_t row, auto&& use) {
    for (const std::int32_t column : pattern.columns(row)) use(column);
  });
  for (const auto& message : matrix.messages) {
    matrix.ranks[message.from].sent += message.bytes / 8;
    matrix.ranks[message.to].ghosts += message.bytes / 8;
  }
  return matrix;
}

}  // namespace ayatori::forecast
