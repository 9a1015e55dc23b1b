#pragma once

#include <string>

#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/session/machine_profile.hpp"
#include "ayatori/session/schedule_tables.hpp"

namespace ayatori::session {

/// What is found once and serves any number of solves: ranks and their threads, the machine, collectives.
struct Session {
  comm::Comm world;  ///< the ranks, with the collectives of their MPI
  comm::Comm comm;   ///< the same ranks, with the collectives below
  int threads = 1;   ///< threads of this rank that a solve may use
  FoundCollectives collectives;
  FoundProfile machine;
  comm::NodeLoad load;  ///< load of the busiest node, with these threads; zeros if nobody has looked
};

struct SessionOptions {
  int threads = 0;                   ///< per rank; 0: all cores (comm::set_threads())
  std::string profile = "auto";      ///< see find_profile(): "auto" measures a machine that is not known yet
  std::string collectives = "auto";  ///< see find_collectives()
};

/// Collective. Sets the threads of parallel regions. Throws InputError, agreed.
Session begin_session(const comm::Comm& world, const SessionOptions& options = {});

/// Collective. The same, where the threads are set and the machine is known; nobody looks at the node's load.
Session begin_session(const comm::Comm& world, int threads, FoundProfile machine,
                      const std::string& collectives);

}  // namespace ayatori::session
