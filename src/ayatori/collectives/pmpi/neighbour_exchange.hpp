#pragma once

#include <span>

#include "ayatori/collectives/pmpi/buffer.hpp"
#include "ayatori/collectives/pmpi/neighbour_plan.hpp"

namespace ayatori::pmpi {

/// The blocks of a neighbourhood collective on this rank.
struct NeighbourBlocks {
  std::vector<Buffer> sent;  ///< one for all neighbours where `is_gather`
  std::vector<Buffer> received;
  bool is_gather;  ///< every neighbour gets the same
  bool is_even;    ///< all blocks from one rank are of one length, which its neighbours know

  const Buffer& sent_to(int block) const { return sent[is_gather ? 0 : block]; }
};

/// Carries out the neighbourhood collectives of one kind on a communicator by their plan. Blocks for ranks of
/// this node go through memory where that is better.
class NeighbourExchange {
 public:
  /// Collective over `comm`, which has a topology; `s` are its schedules. Throws MpiError.
  NeighbourExchange(NeighbourKind kind, MPI_Comm comm, CommSchedules& s)
      : s_(s), plan_(make_neighbour_plan(kind, comm, s.transport())) {}

  const NeighbourPlan& plan() const { return plan_; }

  /// Collective; both end with the data in the program's buffers. False, before anything is sent, if a block
  /// is none that MPI allows. Every block straight to its reader.
  [[nodiscard]] bool run_straight(const NeighbourBlocks& blocks);
  /// Short blocks in bundles.
  [[nodiscard]] bool run_bundled(const NeighbourBlocks& blocks);

 private:
  Buffer bytes(std::vector<std::byte>& data) const { return bytes(data.data(), std::ssize(data)); }
  Buffer bytes(std::byte* data, std::int64_t length) const;
  void pack_bundle(const NeighbourPlan::Bundle& bundle, const NeighbourBlocks& blocks,
                   std::vector<std::byte>& to) const;
  std::int64_t most_bytes(const NeighbourPlan::TakenBundle& taken, const NeighbourBlocks& blocks) const;
  void open_bundle(int number, const NeighbourBlocks& blocks);
  void deal_out(const NeighbourBlocks& blocks);

  CommSchedules& s_;
  NeighbourPlan plan_;
  const Buffer bytes_{nullptr, 0, MPI_BYTE};
  /// Kept from call to call: bundles sent and taken; what is dealt out, and is dealt to this rank.
  std::vector<std::vector<std::byte>> bundles_;
  std::vector<std::vector<std::byte>> taken_;
  std::vector<std::vector<std::byte>> deals_;
  std::vector<std::vector<std::byte>> shares_;
  std::vector<std::vector<std::span<const std::byte>>> opened_;  ///< the blocks of bundles taken
};

}  // namespace ayatori::pmpi
