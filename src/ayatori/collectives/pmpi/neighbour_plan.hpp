#pragma once

#include <vector>

#include "ayatori/collectives/pmpi/messages/transport.hpp"
#include "ayatori/collectives/pmpi/neighbourhood.hpp"

namespace ayatori::pmpi {

/// What one rank does in a neighbourhood collective. A block goes straight to its reader, or in a bundle:
/// what a rank sends to several readers of another node goes there in one message, to one of these readers,
/// the taker, who deals it out.
struct NeighbourPlan {
  static constexpr int no_taker = -1;

  struct Sent {
    int reader;
    int block;  ///< number among those that this rank sends
    bool is_bundled;
  };
  struct Bundle {
    int taker;
    std::vector<int> blocks;  ///< numbers among those that this rank sends
  };
  struct Received {
    int owner;
    int block;  ///< number among those that this rank receives
    int taker;  ///< who deals it out, or none
  };
  struct Reader {
    int rank;
    int block;  ///< if that is this rank: of those that it receives
  };
  struct TakenBundle {
    int owner;
    std::vector<Reader> readers;  ///< readers of its blocks
  };
  /// A block that is dealt out.
  struct Dealt {
    int bundle;  ///< number among those taken
    int place;   ///< there
  };
  struct Deal {
    int reader;
    std::vector<Dealt> blocks;
  };
  struct Share {
    int taker;
    std::vector<int> blocks;  ///< numbers among those that this rank receives, in the order of the deal
  };

  std::vector<Sent> sent;          ///< in the order of blocks
  std::vector<Received> received;  ///< by owner, in the order in which that sends them
  std::vector<Bundle> bundles;
  std::vector<TakenBundle> taken;  ///< by owner
  std::vector<Deal> deals;         ///< to others
  std::vector<Share> shares;       ///< this rank's shares of others' deals
  int sources = 0;                 ///< blocks of the program, with those of MPI_PROC_NULL
  int destinations = 0;
  bool anyone_bundles = false;  ///< the same on all ranks
};

/// The calls that there are.
enum class NeighbourKind {
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_alltoallw
};
inline constexpr int neighbour_kinds = static_cast<int>(NeighbourKind::neighbor_alltoallw) + 1;

/// Collective over `comm`, which has a topology. Which block of a neighbour arrives as which of ours is asked
/// of the MPI, by a call of this kind: MPIs have different opinions of ranks that are neighbours twice, and
/// MPICH has two of its own. Throws MpiError.
NeighbourPlan make_neighbour_plan(NeighbourKind kind, MPI_Comm comm, PmpiTransport& transport);

}  // namespace ayatori::pmpi
