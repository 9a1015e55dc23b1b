#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ayatori/session/solve/checkpoint.hpp"
#include "ayatori/tuning/memory/script.hpp"

namespace ayatori::session {

/// What a result must have in common with the solve that replays it.
struct ReplayedAs {
  int ranks = 1;
  int threads = 1;  ///< per rank, or fewer
  std::string partition;
  std::vector<int> rank_of_part = {};  ///< where --placement has moved them; empty: nowhere
  std::string tables = {};             ///< files of schedules for collectives
  bool coordinates = false;            ///< were given
  bool near_null_space = false;        ///< was given
  bool fields = false;                 ///< were given
};

/// The decisions of a result file, and the tolerance that they were taken for.
struct Replay {
  std::shared_ptr<const tuning::Script> script;
  double rtol = 0;
  int threads = 1;  ///< per rank
};

/// Collective. Reads what `solve --json` has written. Throws InputError, agreed, if it is no such file, of
/// another system, or of other ranks, more threads, another partition, placement or tables.
Replay load_replay(const comm::Comm& comm, const std::string& path, const SystemIdentity& system,
                   const ReplayedAs& now);

/// What load_replay() wants to find as "replay" in a result.
nlohmann::ordered_json replay_json(const tuning::Script& script, const SystemIdentity& system,
                                   const ReplayedAs& as);

}  // namespace ayatori::session
