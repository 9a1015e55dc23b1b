#pragma once

#include <functional>

namespace ayatori::comm {

/// MPI from construction to destruction; one per process, before any Comm. Threads may compute, and only the
/// thread that made the Environment communicates (MPI_THREAD_FUNNELED). Where the application has initialised
/// MPI already, it stays the application's. Throws EnvironmentError when MPI cannot start, has ended already,
/// or allows no threads.
class Environment {
 public:
  Environment(int& argc, char**& argv);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  bool owner_ = false;
};

/// Calls `function` when MPI begins to end, whoever ends it, while all of MPI still works: what holds
/// communicators, windows or objects of libraries over MPI lets go of them then. It throws nothing.
/// Precondition: MPI has begun and not ended.
void before_mpi_ends(std::function<void()> function);

/// Ends the whole job at once with this exit status: the last resort when one rank failed alone and the
/// others wait for it.
[[noreturn]] void abort_job(int status);

/// The name and version of the MPI library, one line.
const char* mpi_version();

}  // namespace ayatori::comm
