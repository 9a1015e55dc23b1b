#include "ayatori/machine/measure.hpp"

#include <algorithm>
#include <array>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/machine/model/network_ports.hpp"
#include "ayatori/machine/probes/probes.hpp"
#include "ayatori/machine/topology.hpp"

namespace ayatori::machine {

namespace {

/// A probe by name, and its share of the time.
struct Probe {
  const char* name;
  double share;
  bool computes;  ///< measures what needs no message
  void (*run)(const ProbeContext& context, Profile& profile);
};

/// Transfers, and what the ports of the node carried meanwhile.
void run_transfers(const ProbeContext& c, Profile& p) {
  const auto before = find_network_ports();
  probe_transfers(c, p);
  if (p.nodes() < 2) return;
  p.ports = traffic_between(before, find_network_ports());
}

constexpr std::array probes{
    Probe{"memory", 0.35, true, [](const ProbeContext& c, Profile& p) { p.memory = probe_memory(c, p); }},
    Probe{"NUMA", 0.05, true,
          [](const ProbeContext& c, Profile& p) {
            if (!c.quick) p.numa = probe_numa(c);
          }},
    Probe{"barriers", 0.04, true, [](const ProbeContext& c, Profile& p) { p.barriers = probe_barriers(c); }},
    Probe{"transfers", 0.33, false, run_transfers},
    Probe{"overlap", 0.04, true, [](const ProbeContext& c, Profile& p) { probe_overlap(c, p.levels); }},
    Probe{"fans", 0.02, false, [](const ProbeContext& c, Profile& p) { probe_fans(c, p.levels); }},
    Probe{"eager sends", 0.02, false,
          [](const ProbeContext& c, Profile& p) { probe_eager_sends(c, p.levels); }},
    Probe{"reduction", 0.02, true,
          [](const ProbeContext& c, Profile& p) { p.reduction = probe_reduction(c); }},
    Probe{"collectives", 0.13, false,
          [](const ProbeContext& c, Profile& p) { p.collectives = probe_collectives(c, p.node_of_rank); }}};

/// Collective. Whether the clock runs while ranks compute; a simulator may let it stand still.
bool computing_takes_time(const comm::Comm& comm) {
  constexpr int steps = 100000;
  constexpr double least_seconds = 1e-10 * steps;
  const Stopwatch watch;
  volatile double sum = 0;
  for (int i = 0; i < steps; ++i) sum = sum + 1;
  return !comm.any(watch.seconds() < least_seconds);
}

}  // namespace

double ProbeContext::clock() const {
  return comm.broadcast(wall_time(), 0);
}

TurnLimits ProbeContext::limits(double share) const {
  TurnLimits limits;
  limits.seconds = share * seconds;
  limits.stopped = stopped;
  return limits;
}

Profile measure(const comm::Comm& comm, const MeasureOptions& options, const MeasureHooks& hooks) {
  const Stopwatch watch;
  const double processor_before = processor_time();
  const auto takes_too_long = [&] {
    return watch.seconds() > options.most_seconds ||
           processor_time() - processor_before > options.most_processor_seconds * max_threads();
  };
  Profile profile;
  profile.source = "measured";
  profile.mpi = comm::mpi_version();
  profile.ranks = comm.size();
  profile.threads = max_threads();
  profile.node = comm::agree(comm, find_node);
  profile.threads_bound = !comm.any(comm::agree(comm, [] { return !threads_are_bound(); }));
  profile.node_of_rank = find_nodes_of_ranks(comm);
  profile.usable_units = comm.broadcast(comm::usable_processing_units(comm), 0);
  bool stopped = false;
  const char* name = "";
  double share = 0;  // share of the time, before this probe
  double share_of_probe = 0;
  Stopwatch since_begun;
  const auto tell = [&] {
    const double done = std::min(since_begun.seconds() / options.seconds, share_of_probe);
    if (hooks.progress) hooks.progress(name, share + done);
  };
  const auto asks = [&] {
    tell();
    stopped = stopped || comm.any(takes_too_long() || (hooks.wants_stop && hooks.wants_stop()));
    return stopped;
  };
  const bool computing_counts = computing_takes_time(comm);
  for (const Probe& probe : probes) {
    name = probe.name;
    share_of_probe = probe.share;
    since_begun.restart();
    tell();
    const bool counts = computing_counts || !probe.computes;
    if (counts && !asks()) probe.run({comm, probe.share * options.seconds, options.quick, asks}, profile);
    share += probe.share;
  }
  profile.complete = !stopped;
  profile.measuring_seconds = comm.broadcast(watch.seconds(), 0);
  return profile;
}

}  // namespace ayatori::machine
