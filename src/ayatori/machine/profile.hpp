#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ayatori/machine/estimate.hpp"
#include "ayatori/machine/levels.hpp"
#include "ayatori/machine/transfer_model.hpp"

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
  std::vector<Cache> caches;  ///< of data, by level
};

/// Bandwidth of one memory kernel, all threads of all ranks of a node together.
struct MemoryFigure {
  std::string kernel;      ///< see memory_kernels()
  int threads = 0;         ///< of the node, all ranks together
  std::int64_t bytes = 0;  ///< working set of one rank
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

/// Transfer times by message size, of so many pairs at once.
struct TransferCurve {
  std::string pattern;  ///< "one-way": half a ping-pong; "both-ways": two messages that cross
  int pairs = 0;
  std::vector<TransferFigure> points;
  TransferModel model;
};

/// A level of the machine, nearest first.
struct Level {
  std::string name;  ///< "inside a node" or "between nodes"
  InferredLevel structure;
  std::vector<TransferCurve> curves;
};

/// A collective operation over all ranks, to the slowest.
struct CollectiveFigure {
  std::string operation;
  std::int64_t bytes = 0;  ///< that each rank contributes; to each other, for alltoall
  Estimate seconds;
};

/// What a machine can do, as plain data: made by measure(), kept as JSON, read by everything that predicts.
struct Profile {
  std::string mpi;
  int ranks = 0;
  int threads = 0;               ///< per rank
  double measuring_seconds = 0;  ///< that making it took
  bool complete = true;          ///< false where it was interrupted
  Node node;
  std::vector<int> node_of_rank;
  std::vector<MemoryFigure> memory;
  std::vector<BarrierFigure> barriers;
  std::vector<Level> levels;
  std::vector<CollectiveFigure> collectives;
};

/// The profile as JSON text (schema ayatori.machine-profile/1).
std::string to_json(const Profile& profile);

/// Reads what to_json() wrote. `name` is what to call the text in errors. Throws InputError.
Profile profile_from_json(const std::string& text, const std::string& name);

/// Reads a file. Throws InputError.
Profile load_profile(const std::string& path);

/// Where this user's profile of this machine is kept: AYATORI_PROFILE, or in the cache folder of the user
/// (XDG_CACHE_HOME, or HOME/.cache) a file named by the host. Empty if there is no such folder.
std::string default_profile_path();

}  // namespace ayatori::machine
