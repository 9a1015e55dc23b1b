#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "bench/kernels/jacobi_tiles.hpp"
#include "bench/papers/rank_grid.hpp"

namespace ayatori::bench {

/// The block of an n x n grid that a rank has.
Rect block_of(const RankGrid& grid, std::int64_t n, int rank);

/// What a rank and one of its up to eight neighbours send each other, each packed by rows behind what goes to
/// those before it in the list.
struct BlockLink {
  int direction;  ///< 0 to 7, row by row; that of the neighbour towards this rank is 7 - direction
  int rank;
  Rect sent;
  Rect received;
  std::int64_t send_at;
  std::int64_t receive_at;
};

std::vector<BlockLink> links_of(const RankGrid& grid, std::int64_t n, std::int64_t depth, int rank);

/// Exchanges `depth` rows and columns around blocks, corners too. No block is smaller.
class BlockExchange {
 public:
  virtual ~BlockExchange() = default;
  /// Collective. What is sent may be read until finish().
  virtual void begin(const GridBlock& block) = 0;
  /// Collective. Fills what is around the block.
  virtual void finish(GridBlock& block) = 0;
};

/// Collective. By messages, or by puts into the memory of the neighbours (the remote memory transfer of
/// COMPaS).
std::unique_ptr<BlockExchange> make_block_exchange(const comm::Comm& comm, const RankGrid& grid,
                                                   std::int64_t n, std::int64_t depth, bool one_sided);

}  // namespace ayatori::bench
