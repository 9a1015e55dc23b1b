#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace ayatori::bench {

/// Ranks in rows and columns, row by row.
struct RankGrid {
  int rows = 1;
  int columns = 1;

  int row_of(int rank) const { return rank / columns; }
  int column_of(int rank) const { return rank % columns; }
  /// The rank there; -1 beside the grid.
  int rank_at(int row, int column) const {
    const bool inside = 0 <= row && row < rows && 0 <= column && column < columns;
    return inside ? row * columns + column : -1;
  }
};

/// The grid of all these ranks that is nearest to a square, with not more columns than rows and at most
/// `most` of each; nothing if there is none.
inline std::optional<RankGrid> most_square_grid(
    int ranks, std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  int columns = 1;
  for (int c = 1; c * c <= ranks; ++c) {
    if (ranks % c == 0) columns = c;
  }
  if (ranks / columns > most) return std::nullopt;
  return RankGrid{ranks / columns, columns};
}

}  // namespace ayatori::bench
