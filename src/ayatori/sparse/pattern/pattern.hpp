#pragma once

#include <array>
#include <cstdint>

#include "ayatori/sparse/csr.hpp"

namespace ayatori::sparse {

/// Rows among which the kernel sell-8 sorts by length.
inline constexpr std::int64_t sell_window = 512;

/// Lanes of a slice that a diagonal must fill to be a run of the kernel run-sell.
inline constexpr int least_run = 4;

/// Rows and columns of a tile of the kernels sell-tiles and symmetric-tiles. Elements of x (and y) of this
/// many columns leave room in a first cache of 32 KB or nearly so, those of a wide tile in a second of 512
/// KB; rows are counted by 8 bits.
inline constexpr std::int64_t tile_rows = 192;
inline constexpr std::int32_t tile_columns = 2048;
inline constexpr std::int32_t wide_tile_columns = 16384;  // both powers of two

/// What a format by tiles stores.
struct TileCounts {
  std::int64_t tiles = 0;   ///< that hold an entry
  std::int64_t slices = 0;  ///< slices of rows side by side in a tile
  std::int64_t places = 0;  ///< entries and padding

  void add(const TileCounts& other) {
    tiles += other.tiles;
    slices += other.slices;
    places += other.places;
  }
};

/// What decides how many bytes a storage format needs for a matrix. Plain data.
struct PatternFacts {
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  std::int64_t nonzeros = 0;
  std::int64_t longest_row = 0;
  std::int64_t sell_entries = 0;  ///< stored by sell-8: 8 x the longest row of each slice, after sorting

  /// Whether what follows was found on a sample of the rows and scaled up: counts are then estimates, and
  /// diagonals, gaps and asymmetries that the sample does not show are missing.
  bool sampled = false;

  std::int64_t diagonals = 0;              ///< that hold an entry
  std::int64_t diagonal_elements = 0;      ///< places on these, with or without an entry
  std::int64_t main_diagonal_entries = 0;  ///< stored entries (i, i)
  std::array<std::int64_t, 3> blocks{};    ///< aligned 2 x 2, 3 x 3 and 4 x 4 blocks that hold an entry
  std::int64_t runs = 0;                   ///< runs of run-sell: 8 rows i, columns c + i
  std::int64_t outside_runs = 0;           ///< entries that are in no run
  TileCounts whole_tiles;                  ///< tiles of sell-tiles
  TileCounts lower_tiles;                  ///< tiles of symmetric-tiles, if the matrix is symmetric
  bool gaps_fit_16_bits = false;           ///< neighbouring entries of a row are less than 2^16 columns apart
  bool symmetric = false;                  ///< square, every entry equal to its mirror image
  bool real_form = false;                  ///< real form of a complex matrix (complex_form.hpp)
};

/// The facts of a matrix, in about the time of one product: row lengths are all looked at; of the entries,
/// all of a small matrix and a 32nd of a large one, in windows of rows at pseudo-random places, the same
/// every time. OSKI estimates the fill of blocks so (Vuduc, Demmel & Yelick 2005).
PatternFacts pattern_facts(const Csr& matrix);

/// How many products with a matrix of this many nonzeros take about as long as that look at it: the larger it
/// is, the smaller the part that is looked at.
double products_of_pattern_facts(std::int64_t nonzeros);

/// Sizes of the blocks that formats have: their rows, and as many columns.
inline constexpr std::array block_sizes{2, 3, 4};

/// How full aligned blocks of these sizes are that hold an entry, seen on a few rows in the time of about a
/// hundred entries for each: 1 where the unknowns of a point stand side by side and are coupled with all of a
/// neighbour's. 0 for a matrix without rows.
std::array<double, block_sizes.size()> glance_at_blocks(const Csr& matrix);

/// Bytes of compressed sparse rows.
std::int64_t csr_bytes(std::int64_t rows, std::int64_t nonzeros);

/// More bytes than this are too many for a matrix in any format: twice compressed sparse rows, and a page.
std::int64_t most_bytes(std::int64_t rows, std::int64_t nonzeros);

}  // namespace ayatori::sparse
