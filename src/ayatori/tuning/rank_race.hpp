#pragma once

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::tuning {

/// Whether all ranks hold rows, or one holds them all: where messages of a product take longer than the work
/// that the others would do, or where preconditioners of blocks would lose what couples these, more ranks
/// make a solve slower.
struct RankRace {
  int offered = 1;
  int ranks = 1;              ///< to hold rows: all or one
  double seconds_of_all = 0;  ///< of an iteration, foreseen; 0 where nothing was measured
  double seconds_of_one = 0;
  double seconds = 0;  ///< that measuring took
};

/// What a rank does in an iteration, in seconds.
struct RankTimes {
  double work = 0;      ///< on its own rows, without messages
  double exchange = 0;  ///< of ghosts
};

/// Collective. The decision by the times of this rank; the sums over ranks of an iteration are the same
/// either way and left out. `coupled_rows`: the share of all rows with entries in columns of other ranks; the
/// iterations of preconditioners of blocks are taken to grow by it.
RankRace race_ranks(const comm::Comm& comm, const RankTimes& mine, double coupled_rows);

/// Collective. The same with times measured by a few products. All ranks where the matrix may not fit into
/// the memory of one, or where one holds all rows anyway.
RankRace race_ranks(const comm::Comm& comm, const sparse::SplitMatrix& parts);

}  // namespace ayatori::tuning
