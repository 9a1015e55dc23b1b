#pragma once

namespace ayatori::pmpi {

/// From now on the MPI calls `advance` whenever it looks for what has come, so in every call of it that waits
/// or tests, whatever for. MPI promises that a collective call that does not block goes on even while the
/// program waits in a call that has nothing to do with it. It calls by any thread, perhaps by several at
/// once, and inside of calls of MPI that `advance` makes itself. It may begin messages and test for them, but
/// must not wait; it gives how much has moved. False if this library of the MPI has no such thing.
bool begin_progress_hook(int (*advance)());
/// Ends a hook that has begun.
void end_progress_hook(int (*advance)());

}  // namespace ayatori::pmpi
