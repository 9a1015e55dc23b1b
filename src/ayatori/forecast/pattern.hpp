#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ayatori/mapping/graph/comm_graph.hpp"

namespace ayatori::forecast {

/// The places of the nonzeros of a square matrix, all on one process: 4 bytes per nonzero and 8 per row.
struct Pattern {
  std::vector<std::int64_t> row_start{0};  ///< rows + 1
  std::vector<std::int32_t> column;

  std::int64_t rows() const { return static_cast<std::int64_t>(row_start.size()) - 1; }
  std::int64_t nonzeros() const { return row_start.back(); }
  std::span<const std::int32_t> columns(std::int64_t row) const {
    return {column.data() + row_start[row], column.data() + row_start[row + 1]};
  }
};

/// An entry in the list of ways to spread rows: the part of every row.
struct Partition {
  std::string_view name;
  std::string_view description;
  std::vector<std::int32_t> (*parts)(const Pattern& pattern, int parts);
};

/// contiguous, rows, graph. The first is that of sparse::balance_nonzeros(), as `ayatori solve` does it; the
/// last throws InputError where METIS wants more rows.
std::span<const Partition> partitions();

/// What a rank has of the matrix, in elements.
struct RankShare {
  std::int64_t rows = 0;
  std::int64_t interior = 0;   ///< nonzeros whose columns the rank owns
  std::int64_t halo = 0;       ///< other nonzeros
  std::int64_t halo_rows = 0;  ///< rows that have some
  std::int64_t ghosts = 0;     ///< elements of x that it receives for a product
  std::int64_t sent = 0;       ///< that it sends, each as often as it is wanted

  /// Bytes as compressed sparse rows: sparse::DistributedMatrix::matrix_bytes() with the kernel csr.
  std::int64_t matrix_bytes() const;
  /// That a product reads and writes: the matrix; x, and y, which is fetched before it is written; packing
  /// what is sent, and adding what ghosts contribute.
  std::int64_t product_bytes() const;
};

/// A matrix that is spread over ranks.
struct SpreadMatrix {
  std::vector<RankShare> ranks;
  std::vector<mapping::PairVolume> messages;  ///< messages of the halo exchange before a product
};

/// `part_of`: the rank of every row, in [0, ranks).
SpreadMatrix spread(const Pattern& pattern, std::span<const std::int32_t> part_of, int ranks);

}  // namespace ayatori::forecast
