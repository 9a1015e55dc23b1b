#pragma once

namespace ayatori::comm {

/// What holds communicators, windows or objects of libraries over MPI, and belongs to an application that may
/// keep it for longer than MPI lasts: it lets go of them at the latest when MPI ends, whoever ends it.
class MpiHolder {
 public:
  MpiHolder();
  virtual ~MpiHolder();
  MpiHolder(const MpiHolder&) = delete;
  MpiHolder& operator=(const MpiHolder&) = delete;

  /// Lets go of all that needs MPI. May be called when the application's own language has ended.
  virtual void release() = 0;
};

/// Has all MpiHolders let go when MPI begins to end, the youngest first. Once in a process; precondition: MPI
/// has begun and not ended.
void release_holders_before_mpi_ends();

/// Whether they have let go: MPI cannot begin again.
bool has_mpi_ended();

}  // namespace ayatori::comm
