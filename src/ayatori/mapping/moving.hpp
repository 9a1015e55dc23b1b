#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ayatori/comm/comm.hpp"
#include "ayatori/mapping/part_order.hpp"

namespace ayatori::mapping {

/// Whether parts should move to the ranks that a PartOrder has for them.
struct Moving {
  bool is_worth_it = false;
  std::string why;        ///< for people; empty where nothing was to be decided
  double seconds = 0;     ///< that handing the parts over is predicted to take
  double pays_after = 0;  ///< this many exchanges; infinite where they save nothing
  double expected = 0;    ///< exchanges
};

/// About as many products as Krylov methods take for an elliptic problem in two dimensions, without a good
/// preconditioner: the root of the condition number, which grows with the number of unknowns (in three
/// dimensions with its power 2/3). `most`: that are allowed; 0 is no limit.
double expected_exchanges(std::int64_t unknowns, std::int64_t most);

/// Collective. Moving is worth it where the exchanges that are expected save more than the move takes, and
/// what is saved cannot be a mistake of the prediction: below its own error (CostModel::error) measured costs
/// tell nothing; guessed ones may be wrong by any factor, so nothing that the prediction adds up may grow.
/// `part_bytes`: of this rank's part. The move is priced by the same model, as one message from each rank
/// whose part goes; what is set up anew after it is not in this. The other arguments as for order_parts().
Moving judge_moving(const comm::Comm& comm, const PartOrder& order, std::int64_t part_bytes, double expected,
                    std::span<const int> node_of_rank, const MakeNetwork& make_network,
                    const network::CostModel& model);

}  // namespace ayatori::mapping
