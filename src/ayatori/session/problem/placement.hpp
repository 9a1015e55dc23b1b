#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ayatori/comm/comm.hpp"
#include "ayatori/mapping/moving.hpp"
#include "ayatori/mapping/part_order.hpp"
#include "ayatori/session/machine_profile.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::session {

/// What `solve --placement auto` has found.
struct FoundPlacement {
  mapping::PartOrder order;
  mapping::Moving moving;
  bool moves;           ///< the parts, to where `order` has them
  std::string network;  ///< as --network says it, "measured", or "flat"
  std::string costs;    ///< where those of messages come from
};

/// Throws InputError for a --placement or --network that there is not, and a network without a placement.
/// Called on rank 0.
void check_placement(const std::string& placement, const std::string& network);

/// Collective. Which rank should take which part of a matrix, so that its halo exchange is predicted to take
/// least. `placement`: "auto" moves the parts where that is worth it, "always" wherever it saves anything.
/// `network`: "auto" (the levels of the profile, if it is one of a job that is spread over nodes just as this
/// one; otherwise one switch) or a spec, whose nodes are those of the job in the order of their lowest ranks.
/// `max_iterations`: that the solve may take; 0 is no limit. Throws InputError, agreed.
FoundPlacement find_placement(const comm::Comm& comm, const sparse::SplitMatrix& parts,
                              const FoundProfile& machine, const std::string& placement,
                              const std::string& network, std::int64_t max_iterations);

/// In one line: what was found, and what it promises.
std::string summary(const FoundPlacement& placement);

/// What it goes by, and what finding it took.
std::string explanation(const FoundPlacement& placement);

nlohmann::ordered_json to_json(const FoundPlacement& placement);

}  // namespace ayatori::session
