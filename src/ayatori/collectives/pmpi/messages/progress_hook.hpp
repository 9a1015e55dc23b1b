#pragma once

namespace ayatori::pmpi {

/// Whether this MPI may let others take part in its progress: whatever call of it waits or tests, they go on.
/// MPI promises that for a collective call that does not block, even while the program waits in a call that
/// has nothing to do with it.
#ifdef OPEN_MPI
inline constexpr bool may_have_progress_hook = true;
#else
inline constexpr bool may_have_progress_hook = false;
#endif

/// From now on the MPI calls `advance` whenever it looks for what has come, by any thread, perhaps by several
/// at once, and inside of calls of MPI that `advance` makes itself. It may begin messages and test for them,
/// but must not wait. It gives how much has moved. False if this library of the MPI has no such thing.
bool begin_progress_hook(int (*advance)());
/// Of one that has begun.
void end_progress_hook(int (*advance)());

}  // namespace ayatori::pmpi
