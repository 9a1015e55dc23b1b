#pragma once

#include <functional>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/machine/probes/turns.hpp"
#include "ayatori/machine/profile.hpp"

namespace ayatori::machine {

/// What the probes share.
struct ProbeContext {
  const comm::Comm& comm;
  double seconds;                 ///< for this probe
  bool quick;                     ///< fewer sizes
  std::function<bool()> stopped;  ///< see TurnLimits

  /// Collective. Seconds by the clock of rank 0.
  double clock() const;
  TurnLimits limits(double share = 1) const;
};

/// 1, 2, 4, ... and `most`.
std::vector<int> thread_counts(int most);

/// Collective. Bandwidth of the memory kernels, for 1, 2, 4, ... and all threads of the ranks, with working
/// sets from half of the first cache to far beyond the last. Throws EnvironmentError, agreed.
std::vector<MemoryFigure> probe_memory(const ProbeContext& context, const Profile& profile);

/// Collective. Reading memory of every NUMA node from every NUMA node, by rank 0 while the others wait.
/// Nothing where hwloc may not place memory. Throws EnvironmentError.
std::vector<NumaFigure> probe_numa(const ProbeContext& context);

/// Collective. Barriers among 2, 4, ... and all threads of a rank: the one of OpenMP, and one of flags that
/// threads spin on (Tanaka et al., figure 2).
std::vector<BarrierFigure> probe_barriers(const ProbeContext& context);

/// Collective. Short messages between all pairs, the levels that show in them, and transfer curves for each
/// level, which the profile's node_of_rank names. Ways to transfer that the MPI refuses are left out, with
/// the reason.
void probe_transfers(const ProbeContext& context, Profile& profile);

/// Collective. How much of a transfer is hidden behind computation, for one pair of each level; added to
/// them.
void probe_overlap(const ProbeContext& context, std::vector<Level>& levels);

/// Collective. Up to which length a send does not wait for its receiver, for one pair of each level; added to
/// them.
void probe_eager_sends(const ProbeContext& context, std::vector<Level>& levels);

/// Collective. How fast one rank sends to many at once, for each level; added to them.
void probe_fans(const ProbeContext& context, std::vector<Level>& levels);

/// Collective. The MPI's sum of vectors in memory, on all ranks at once.
ReductionCurve probe_reduction(const ProbeContext& context);

/// Collective. The collective operations by size, over 1, 2, 4, ... and all ranks of each node.
std::vector<CollectiveFigure> probe_collectives(const ProbeContext& context,
                                                const std::vector<int>& node_of_rank);

}  // namespace ayatori::machine
