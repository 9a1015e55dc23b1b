#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ayatori/machine/profile.hpp"
#include "ayatori/mapping/graph/comm_graph.hpp"
#include "ayatori/network/hierarchy.hpp"
#include "ayatori/network/network.hpp"

namespace ayatori::forecast {

/// How many of what a job has. Consecutive ranks share a node.
struct JobShape {
  int nodes = 1;
  int ranks_per_node = 1;
  int threads = 1;  ///< threads of a rank

  int ranks() const { return nodes * ranks_per_node; }
};

/// Seconds of messages that are under way at once.
struct ExchangeSeconds {
  double latency = 0;
  double bandwidth = 0;  ///< what is added by bytes

  double total() const { return latency + bandwidth; }
};

/// What a profile says of a job that it need not have been measured with.
///
/// Messages inside a node are those of the profile's nearest level, messages between nodes those of its
/// farthest; where a profile does not tell, something is assumed, and said to be.
class JobMachine {
 public:
  /// `name`: what to call the profile in errors. `memory_bandwidth`: bytes per second of a node with all its
  /// ranks at work, instead of the profile's. Throws InputError if the profile knows no memory and none is
  /// given.
  JobMachine(const machine::Profile& profile, const std::string& name, const JobShape& shape,
             std::optional<double> memory_bandwidth = std::nullopt);

  const JobShape& shape() const { return shape_; }
  /// What the profile did not tell, a sentence each.
  const std::vector<std::string>& assumptions() const { return assumptions_; }

  /// Bytes per second of one rank while all ranks of its node are at work, each on this many bytes over and
  /// over: the triad's (or the next best kernel's), at the nearest measured numbers of threads, and between
  /// measured working sets along straight lines of logarithms.
  double memory_rate(double working_set) const;

  /// Seconds of one exchange: latencies and what comes between the starts of messages. Then come the bytes
  /// through the busiest lane, port and, if a network is given, link (network::predict_seconds(),
  /// mapping::Evaluation). Ranks are placed in order.
  ExchangeSeconds exchange(std::span<const mapping::PairVolume> messages,
                           const network::Network* network = nullptr) const;

  /// Time of an allreduce of this many bytes by recursive doubling. Beyond the greatest power of two, ranks
  /// hand theirs to others before, and get the result after (Thakur, Rabenseifner & Gropp 2005, section 4.5).
  double allreduce_seconds(double bytes) const;

 private:
  struct MemoryPoint {
    double node_bytes;
    double rate;  ///< rate of the node
  };
  void find_memory(const machine::Profile& profile, const std::string& name);
  machine::Profile job_profile(const machine::Profile& profile);
  machine::Level inside_level(const machine::Profile& profile);
  machine::Level between_level(const machine::Profile& profile);

  JobShape shape_;
  std::vector<std::string> assumptions_;
  std::vector<MemoryPoint> memory_;  ///< by ascending bytes
  network::Hierarchy hierarchy_;
};

}  // namespace ayatori::forecast
