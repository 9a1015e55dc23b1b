#pragma once

#include <limits>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/tuning/facts/facts.hpp"
#include "ayatori/tuning/policy/arms.hpp"

namespace ayatori::tuning {

/// Whether all ranks hold rows, or one holds them all: where messages of a product take longer than the work
/// that the others would do, or where preconditioners of blocks would lose what couples these, more ranks
/// make a solve slower.
struct RankRace {
  int offered = 1;
  int ranks = 1;              ///< to hold rows: all or one
  double seconds_of_all = 0;  ///< time of an iteration, foreseen; 0 where nothing was measured
  double seconds_of_one = 0;
  double seconds = 0;  ///< that deciding took; of a Solver with the facts that it needs
};

/// What a rank does in an iteration, in seconds.
struct RankTimes {
  double work = 0;      ///< on its own rows, without messages
  double exchange = 0;  ///< exchange of ghosts
};

/// What is foreseen of a solve.
struct RankOutlook {
  double iterations = std::numeric_limits<double>::infinity();
  double growth = 0;  ///< growth of iterations by coupling blocks of ranks less than the whole, as a share
};

/// Collective. Of a solve that begins with `first`: the iterations of preconditioners of blocks are taken to
/// grow by the share of rows with entries in columns of other ranks.
RankOutlook foresee(const comm::Comm& comm, const sparse::SplitMatrix& parts, const MatrixFacts& facts,
                    const ListedArm& first);

/// Collective. The decision by the times of this rank; the sums over ranks of an iteration are the same
/// either way and left out. Moving the rows takes as long as some iterations on one rank.
RankRace race_ranks(const comm::Comm& comm, const RankTimes& mine, const RankOutlook& outlook);

/// Collective. The same with times measured by a few products and what can be foreseen. All ranks where the
/// matrix may not fit into the memory of one, or into its cache although parts fit, or where one holds all
/// rows anyway.
RankRace race_ranks(const comm::Comm& comm, const sparse::SplitMatrix& parts, const MatrixFacts& facts,
                    const ListedArm& first);

}  // namespace ayatori::tuning
