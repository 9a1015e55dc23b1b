#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ayatori/collectives/operation.hpp"
#include "ayatori/collectives/pmpi/buffer.hpp"
#include "ayatori/collectives/table.hpp"

namespace ayatori::pmpi {

/// Blocks of different lengths, each straight from its owner to its reader. How long all of them are no rank
/// knows, or the root alone; but how long one is both of its ends do, so that they decide alike, block by
/// block, whether it goes through the memory of the node or by a message of the MPI: through memory where the
/// table has that for the operation with all blocks as long as this one, or up to a length. Several blocks
/// from one rank to another arrive in the order in which they are named.
class PairExchange {
 public:
  /// Collective. operation: by rank.
  PairExchange(CommSchedules& s, collectives::Operation operation);
  /// Collective. Blocks for ranks of this node go through memory up to this many bytes, where there is some.
  PairExchange(CommSchedules& s, std::int64_t longest_in_memory);

  /// Whether this may be better than what an MPI does, which sends every block straight, too: memory reaches
  /// all ranks, and the table has that for blocks of some length. The same on all ranks.
  bool is_worth_it() const { return memory_ != nullptr; }

  /// The block for a rank, or from one. Before run(); false if it is none that MPI allows.
  [[nodiscard]] bool send(int peer, const Buffer& block);
  [[nodiscard]] bool receive(int peer, const Buffer& block);

  void run();

 private:
  struct Block;
  struct Blocks;

  bool add(std::vector<Block>& blocks, std::vector<Buffer>& own, int peer, const Buffer& block);
  bool goes_through_memory(int peer, std::int64_t bytes);
  void find_room_to_pack();
  void begin_own(const Buffer& sent, const Buffer& received);

  CommSchedules& s_;
  std::optional<std::int64_t> longest_in_memory_;  ///< none: by the table
  std::span<const collectives::TableEntry> entries_;
  comm::NodeChannel* memory_;
  Blocks& blocks_;
  bool are_packed_ = false;        ///< some of them
  std::int64_t known_length_ = 0;  ///< length of the last block
  bool known_is_near_ = false;     ///< whether those go through memory: most are of one length
};

}  // namespace ayatori::pmpi
