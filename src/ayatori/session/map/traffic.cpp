#include "ayatori/session/map/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/memory.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/mapping/graph/halo_messages.hpp"
#include "ayatori/mapping/optimization/partition.hpp"

namespace ayatori::session {

namespace {

/// The columns of a generated matrix, row by row.
struct GeneratedRows {
  io::GeneratedMatrix matrix;
  io::RowBuilder builder = {};

  std::int64_t rows() const { return matrix.rows; }
  template <class Use>
  void operator()(std::int64_t row, Use&& use) {
    builder.clear();
    matrix.row(row, builder);
    for (const auto& entry : builder.sorted()) use(entry.column);
  }
};

/// Those of a matrix in memory.
struct BlockRows {
  sparse::RowBlock block;

  std::int64_t rows() const { return block.global_rows; }
  template <class Use>
  void operator()(std::int64_t row, Use&& use) const {
    for (std::int64_t k = block.row_start[row]; k < block.row_start[row + 1]; ++k) use(block.column[k]);
  }
};

/// Those of a pattern.
struct PatternRows {
  const forecast::Pattern* pattern;

  std::int64_t rows() const { return pattern->rows(); }
  template <class Use>
  void operator()(std::int64_t row, Use&& use) const {
    for (const std::int32_t column : pattern->columns(row)) use(column);
  }
};

/// Rows as columns, and columns as rows.
mapping::Pattern transposed(const mapping::Pattern& pattern) {
  const auto rows = static_cast<std::int32_t>(pattern.start.size()) - 1;
  mapping::Pattern result{std::vector<std::int32_t>(rows + 1, 0),
                          std::vector<std::int32_t>(pattern.neighbour.size())};
  for (const std::int32_t column : pattern.neighbour) ++result.start[column + 1];
  for (std::int32_t row = 0; row < rows; ++row) result.start[row + 1] += result.start[row];
  std::vector<std::int32_t> next(result.start.begin(), result.start.end() - 1);
  for (std::int32_t row = 0; row < rows; ++row) {
    for (std::int32_t k = pattern.start[row]; k < pattern.start[row + 1]; ++k)
      result.neighbour[next[pattern.neighbour[k]]++] = row;
  }
  return result;
}

void check_size(std::int64_t edges) {
  if (edges > std::numeric_limits<std::int32_t>::max())
    throw EnvironmentError("the pattern exceeds METIS's index type: use --partition rows");
}

/// Each edge from both ends, for a pattern in which columns ascend.
mapping::Pattern symmetrized(mapping::Pattern pattern) {
  const mapping::Pattern other = transposed(pattern);
  if (other.start == pattern.start && other.neighbour == pattern.neighbour) return pattern;
  check_size(2 * static_cast<std::int64_t>(pattern.neighbour.size()));
  mapping::Pattern both{{0}, {}};
  for (std::size_t row = 0; row + 1 < pattern.start.size(); ++row) {
    const auto columns = [&](const mapping::Pattern& p) {
      return std::span(p.neighbour).subspan(p.start[row], p.start[row + 1] - p.start[row]);
    };
    std::ranges::set_union(columns(pattern), columns(other), std::back_inserter(both.neighbour));
    both.start.push_back(static_cast<std::int32_t>(both.neighbour.size()));
  }
  return both;
}

template <class Rows>
mapping::Pattern pattern_of(Rows& rows) {
  mapping::Pattern pattern{{0}, {}};
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    rows(row, [&](std::int64_t column) {
      if (column != row) pattern.neighbour.push_back(static_cast<std::int32_t>(column));
    });
    check_size(static_cast<std::int64_t>(pattern.neighbour.size()));
    pattern.start.push_back(static_cast<std::int32_t>(pattern.neighbour.size()));
  }
  return symmetrized(std::move(pattern));
}

template <class Rows>
std::vector<std::int32_t> parts_of(Rows& rows, const std::string& partition, int ranks) {
  if (partition == "graph") {
    check_size(rows.rows());
    auto pattern = pattern_of(rows);
    return mapping::partition_rows(pattern, ranks);
  }
  if (partition != "rows")
    throw InputError(fmt::format("--partition {}: choose 'rows' or 'graph'", partition));
  std::vector<std::int32_t> parts;
  parts.reserve(rows.rows());
  for (int rank = 0; rank < ranks; ++rank)
    parts.insert(parts.end(), split_evenly(rows.rows(), ranks, rank).size(), rank);
  return parts;
}

template <class Rows>
mapping::Traffic traffic_of(Rows rows, const std::string& partition, int ranks) {
  constexpr double bytes_per_row = 16;  // see halo_messages()
  const double bytes = bytes_per_row * static_cast<double>(rows.rows());
  if (bytes > static_cast<double>(available_memory()))
    throw EnvironmentError(fmt::format("out of memory: {} rows take {:.3g} GB", rows.rows(), bytes * 1e-9));
  const auto parts = parts_of(rows, partition, ranks);
  mapping::Traffic traffic;
  traffic.ranks = ranks;
  traffic.messages = mapping::halo_messages(parts, ranks, std::ref(rows));
  return traffic;
}

/// A square matrix in memory.
sparse::RowBlock load_square(const std::string& source) {
  auto block = io::load_matrix(comm::Comm::self(), source).block;
  io::check_square(source, block.global_rows, block.global_columns);
  return block;
}

}  // namespace

mapping::Traffic matrix_traffic(const std::string& source, const std::string& partition, int ranks) {
  if (!std::filesystem::exists(source) && io::is_generator(source)) {
    auto matrix = io::generated_matrix(source);
    io::check_square(source, matrix.rows, matrix.columns);
    return traffic_of(GeneratedRows{std::move(matrix)}, partition, ranks);
  }
  return traffic_of(BlockRows{load_square(source)}, partition, ranks);
}

mapping::Traffic matrix_traffic(const forecast::Pattern& pattern, const std::string& partition, int ranks) {
  return traffic_of(PatternRows{&pattern}, partition, ranks);
}

mapping::Traffic graph_traffic(const std::string& path) {
  if (path.ends_with(".graph") || path.ends_with(".metis")) return mapping::read_metis_graph(path);
  constexpr double most_bytes = 0x1.0p53;
  const auto block = load_square(path);
  if (block.global_rows < 1) throw InputError(fmt::format("{}: no ranks", path));
  if (block.global_rows > std::numeric_limits<int>::max())
    throw InputError(fmt::format("{}: {} ranks are too many", path, block.global_rows));
  mapping::Traffic traffic;
  traffic.ranks = static_cast<int>(block.global_rows);
  for (int row = 0; row < traffic.ranks; ++row) {
    for (std::int64_t k = block.row_start[row]; k < block.row_start[row + 1]; ++k) {
      const double bytes = block.value[k];
      if (!(bytes >= 0 && bytes <= most_bytes) || bytes != std::floor(bytes))
        throw InputError(fmt::format("{}: entry ({}, {}) is {}, no number of bytes", path, row + 1,
                                     block.column[k] + 1, bytes));
      traffic.messages.push_back(
          {row, static_cast<int>(block.column[k]), 1, static_cast<std::int64_t>(bytes)});
    }
  }
  return traffic;
}

std::string matrix_market(const mapping::CommGraph& graph) {
  std::string entries;
  std::int64_t count = 0;
  for (int rank = 0; rank < graph.ranks(); ++rank) {
    for (const auto& talk : graph.talks(rank)) {
      if (talk.out.messages == 0) continue;
      entries += fmt::format("{} {} {}\n", rank + 1, talk.peer + 1, talk.out.bytes);
      ++count;
    }
  }
  return fmt::format(
      "%%MatrixMarket matrix coordinate real general\n% bytes from rank to rank, counted from 1\n"
      "{0} {0} {1}\n{2}",
      graph.ranks(), count, entries);
}

}  // namespace ayatori::session
