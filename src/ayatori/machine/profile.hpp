#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/machine/model/estimate.hpp"
#include "ayatori/machine/model/levels.hpp"
#include "ayatori/machine/model/transfer_model.hpp"

namespace ayatori::machine {

/// A cache as the operating system describes it.
struct Cache {
  int level = 0;
  std::int64_t bytes = 0;
  int sharers = 0;  ///< processing units that share one of them
};

/// The hardware of a node: what hwloc found on the one of rank 0.
struct Node {
  std::string hostname;
  std::string processor;  ///< model name; empty if unknown
  int packages = 0;
  int numa_nodes = 0;
  int cores = 0;
  int processing_units = 0;
  std::int64_t memory_bytes = 0;
  std::vector<Cache> caches;  ///< data caches, by level
};

/// Bandwidth of one memory kernel, all threads of all ranks of a node together.
struct MemoryFigure {
  std::string kernel;           ///< see memory_kernels()
  int threads = 0;              ///< threads of the node, all ranks together
  std::int64_t bytes = 0;       ///< working set of one rank
  bool touched_by_one = false;  ///< the first thread wrote all of it first, so it lies in that one's memory
  Estimate bytes_per_second;
};

/// Bandwidth of reading memory of a NUMA node with as many threads as a rank has, all on one NUMA node.
struct NumaFigure {
  int threads_node = 0;  ///< where the threads run
  int memory_node = 0;   ///< where the memory lies
  int threads = 0;
  Estimate bytes_per_second;
};

/// Time of a barrier among the threads of a rank (Tanaka et al., figure 2).
struct BarrierFigure {
  std::string kind;  ///< "openmp" or "flags"
  int threads = 0;
  Estimate seconds;
};

struct TransferFigure {
  std::int64_t bytes = 0;
  Estimate seconds;
};

/// Transfer times by message size, of this many pairs at once.
struct TransferCurve {
  std::string pattern;  ///< see transfer_patterns()
  int pairs = 0;
  std::vector<TransferFigure> points;
  TransferModel model;
};

/// Two messages that cross while both ranks compute for about as long as the messages take.
struct OverlapFigure {
  std::int64_t bytes = 0;
  Estimate transfer;  ///< seconds of the messages alone
  Estimate compute;   ///< seconds of computing alone
  Estimate together;

  /// How much of the shorter one is hidden behind the longer one: 0 is nothing, 1 all.
  double hidden() const;
  /// Bandwidth under load as a share of the bandwidth without (Katagiri & Kuroda): 0.5 where nothing
  /// overlaps.
  double effective_bandwidth() const { return transfer.median / together.median; }
};

/// One rank's messages to this many others of a level at once, until all have answered.
struct FanFigure {
  int partners = 0;        ///< 0: it was not measured
  std::int64_t bytes = 0;  ///< length of each message
  Estimate seconds;

  /// Rate of the rank, in all. `latency`: that of an empty message.
  double bytes_per_second(double latency) const;
};

/// A level of the machine, nearest first.
struct Level {
  std::string name;  ///< "inside a node" or "between nodes"
  InferredLevel structure;
  int sharing_pairs = 1;  ///< curves of up to this many pairs connect the same two groups of the level below
  std::vector<TransferCurve> curves;
  std::vector<OverlapFigure> overlap;
  FanFigure fan;
  /// The longest message, of 8 B to 4 MiB, with which an MPI_Send did not wait for the receiver; -1 if it was
  /// not measured.
  std::int64_t eager_bytes = -1;

  /// nullptr if it was not measured.
  const TransferCurve* curve(std::string_view pattern, int pairs) const;
};

/// Bytes of the messages that pairs of ranks are timed by.
inline constexpr std::int64_t short_message = 8;

/// Names of curves of transfers through the memory of a node (comm::NodeChannel).
inline constexpr std::string_view one_way_through_memory = "one-way through memory";
inline constexpr std::string_view both_ways_through_memory = "both-ways through memory";

/// What flows get that cross the same link at once.
struct LinkSharing {
  double one_flow = 0;  ///< bytes per second of a single one
  double capacity =
      0;  ///< rate of all together, in bytes per second; the most that was seen, if nothing limits it
  bool is_limited = false;

  /// Bytes per second of each of this many.
  double bandwidth(int flows) const {
    return is_limited && flows * one_flow > capacity ? capacity / flows : one_flow;
  }
};

/// From the level's curves of long messages, one way; zeros where there is none.
LinkSharing link_sharing(const Level& level);

/// A network port of a node, and what it carried while transfers were measured.
struct PortFigure {
  std::string name;
  double bytes_per_second = 0;   ///< what the operating system says it can; 0 if unknown
  std::int64_t moved_bytes = 0;  ///< sent and received
};

/// Seconds of reducing two vectors of doubles in memory to one, by their bytes: gamma of the cost models.
struct ReductionCurve {
  std::vector<TransferFigure> points;
  TransferModel model;
};

/// A collective operation, to the slowest rank.
struct CollectiveFigure {
  std::string operation;   ///< see collective_operations()
  int ranks_per_node = 0;  ///< at most
  int ranks = 0;
  std::int64_t bytes = 0;  ///< that each rank contributes; gets, for scatter; to each other, for alltoall
  Estimate seconds;
};

/// A GPU, as one rank sees it that has it to itself.
struct DeviceFigure {
  std::string name;
  double open_seconds = 0;  ///< until the first work can be given to it
  double copy = 0;          ///< bytes per second of a long copy inside the device, read and written ones
  double in = 0;            ///< bytes per second from the host's memory
  double out = 0;           ///< bytes per second back to it
  double step = 0;          ///< seconds of a step that does nothing, inside recorded work
  double wait = 0;          ///< seconds until 8 bytes are on the host, waited for

  /// Whether rates are positive and times not negative, and all of them finite.
  bool is_possible() const;
};

/// What a machine can do, as plain data: made by measure(), kept as JSON, read by everything that predicts.
struct Profile {
  std::string source;  ///< "measured", or where it was published
  std::string mpi;
  int ranks = 0;
  int threads = 0;               ///< per rank
  double measuring_seconds = 0;  ///< that making it took
  bool complete = true;          ///< false where it was interrupted
  bool threads_bound = true;     ///< every thread to fewer processing units than its node has
  int usable_units = 0;          ///< processing units of rank 0's node that the job may use; 0 if unknown
  Node node;
  std::vector<int> node_of_rank;
  std::vector<MemoryFigure> memory;
  std::vector<NumaFigure> numa;
  std::vector<BarrierFigure> barriers;
  std::vector<PairTime> pairs;  ///< times of short messages, all or some pairs
  std::vector<Level> levels;
  std::vector<PortFigure> ports;  ///< ports of rank 0's node, where ranks are on several
  ReductionCurve reduction;
  std::vector<CollectiveFigure> collectives;
  std::optional<DeviceFigure> device;  ///< device of rank 0; none where there is none, or nobody asked
  std::vector<std::string> left_out;   ///< what could not be measured, and why

  int nodes() const;
  /// Units of rank 0's node: what the job may use, or all that there are where nobody asked.
  int processing_units() const { return usable_units > 0 ? usable_units : node.processing_units; }
  /// Bytes per second of a node for a kernel with the largest working set, with this many threads, or the
  /// next fewer that were measured; 0 if none was.
  double memory_bandwidth(std::string_view kernel, int most_threads) const;
};

/// The profile as JSON text (schema ayatori.machine-profile/1).
std::string to_json(const Profile& profile);

/// Reads what to_json() wrote. `name` is what to call the text in errors. Throws InputError.
Profile profile_from_json(const std::string& text, const std::string& name);

/// Reads a file, or gives the published profile of this name (see published_profiles()). Throws InputError.
Profile load_profile(const std::string& path);

/// Whether a new profile may take the place of this file: where there is none, or an empty one, or one that
/// is a profile, of whatever version, or the beginning of one. Then the answer is empty; else it says in a
/// line what the file is.
std::string why_not_replaced(const std::string& path);

/// Where this user's profile of this machine is kept: AYATORI_PROFILE, or in the cache folder of the user
/// (XDG_CACHE_HOME, or HOME/.cache) a file named by the host. Empty if there is no such folder.
std::string default_profile_path();

/// The machine as it is for those whose messages inside nodes go through memory: where a level has such
/// curves they stand for "one-way" and "both-ways", and pairs that meet there are as much nearer.
Profile through_memory(Profile profile);

}  // namespace ayatori::machine
